"""Constants and helpers that several exercises of the lesson share."""


def some_open(draw, *shape):
    """A random mask for two or more keys; every row has an open and a blocked key."""
    mask = draw.chance(0.4, *shape)
    mask[..., -2], mask[..., -1] = False, True
    assert not mask.all(-1).any()
    assert mask.any(-1).all()
    return mask
