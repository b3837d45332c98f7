# the result is float32, for float64 weights too
def alignment_error(weights, alignment):
    has_source = alignment >= 0
    if not has_source.any():
        return weights.new_zeros(()).float()
    return (weights.argmax(-1) != alignment)[has_source].float().mean()
