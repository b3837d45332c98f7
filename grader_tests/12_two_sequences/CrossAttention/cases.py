"""What the cases of `CrossAttention` are made of."""


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


def padded(draw, *shape):
    """A random mask (B, S), True where padded, in which every row has an open position and, where S > 1, a padded one.

    Not at the end alone: nothing in the contract says that padding comes last, and in the first row it does not.
    """
    mask = draw.chance(0.4, *shape)
    for row in mask:
        order = draw.permutation(len(row))
        row[order[-1]] = True
        row[order[0]] = False
    if not (mask[0, :-1] & ~mask[0, 1:]).any():
        mask[0] = mask[0].flip(0)
    return mask
