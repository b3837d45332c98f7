"""Building blocks of the test cases of `CrossAttention`."""


def weights(draw, width):
    """A state dict whose enlarged queries and keys give unequal weights, not one-hot."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


def padded(draw, *shape):
    """A random mask (B, S), True where padded.

    Every row has an open position and, if S > 1, a padded one. In the first row padding is not at the end, because the
    contract does not promise that it is.
    """
    mask = draw.chance(0.4, *shape)
    for row in mask:
        order = draw.permutation(len(row))
        row[order[-1]] = True
        row[order[0]] = False
    if not (mask[0, :-1] & ~mask[0, 1:]).any():
        mask[0] = mask[0].flip(0)
    return mask
