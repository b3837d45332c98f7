"""Right answers to `induction_score` in other styles."""

import torch


# %% score_by_indices
def induction_score(weights, period):
    T = weights.shape[-1]
    if period < 1 or period >= T:
        raise ValueError(f"period is {period}, and must be at least 1 and less than {T}")
    t = torch.arange(period, T, device=weights.device)
    return weights[..., t, t - period + 1].mean(dim=-1)


# %% score_by_diagonal
def induction_score(weights, period):
    if not 1 <= period < weights.size(-1):
        raise ValueError(f"period={period} is not possible for weights of the shape {tuple(weights.shape)}")
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


# %% score_by_a_loop
def induction_score(weights, period):
    T = weights.shape[-2]
    if period not in range(1, T):
        raise ValueError("period: " + str(period))
    total = 0
    for t in range(period, T):
        total = total + weights[..., t, t - period + 1]
    return total / (T - period)


# %% score_by_a_mask
def induction_score(weights, period):
    T = weights.shape[-1]
    if period <= 0:
        raise ValueError(f"period must be positive, and is {period}")
    if period > T - 1:
        raise ValueError(f"period {period} leaves no query")
    places = torch.arange(T, device=weights.device)
    wanted = (places[:, None] - places == period - 1) & (places[:, None] >= period)
    return torch.where(wanted, weights, 0.0).sum((-2, -1)) / wanted.sum()


# %% score_of_the_later_rows
def induction_score(weights, period):
    length = weights.shape[-1]
    if period < 1 or length <= period:
        raise ValueError(f"period is {period}")
    later = weights[..., period:, 1 : length - period + 1]  # row i is query period + i, column i is what it looks for
    return torch.einsum("...ii->...i", later).mean(-1)
