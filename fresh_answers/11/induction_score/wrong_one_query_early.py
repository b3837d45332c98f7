# the query just before position period is in the mean, too, as the diagonal begins there
def induction_score(weights, period):
    T = weights.shape[-1]
    if not 1 <= period < T:
        raise ValueError(f"period must be from 1 to {T - 1}, got {period}")
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1).mean(-1)
