"""What several exercises of the lesson say."""


def some_open(draw, *shape):
    """A random mask, of two keys or more, in which every row has an open key and a blocked one."""
    mask = draw.chance(0.4, *shape)
    mask[..., -2], mask[..., -1] = False, True
    assert not mask.all(-1).any()
    assert mask.any(-1).all()
    return mask
