"""Building blocks of the test cases of `entropy`."""


def along(dim, p):
    """Weights with the sum 1 along `dim` instead of the last dimension."""
    return p.movedim(-1, dim).contiguous()


def with_zeros(p, *places):
    """Set some weights of each row of `p` to 0, and scale the others up to sum to 1."""
    for row, gone in zip(p.view(-1, p.shape[-1]), places, strict=True):
        row[list(gone)] = 0.0
    return p / p.sum(-1, keepdim=True)
