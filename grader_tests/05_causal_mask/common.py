"""What several exercises of the lesson say."""

import torch


def some_open(draw, *shape):
    """A random mask, of two keys or more, in which every row has an open key and a blocked one."""
    mask = draw.chance(0.4, *shape)
    mask[..., -2], mask[..., -1] = False, True
    assert not mask.all(-1).any()
    assert mask.any(-1).all()
    return mask


def lies_where_asked(seen, exact):
    """Only where a mask lies: on "meta" where the right one does, else on a device that holds its numbers. What could
    not be made on "meta", or with other new tensors there, is None or was made once more."""
    (found,), (right,) = seen.values.values(), exact.values.values()
    if not isinstance(right, torch.Tensor):  # what has no numbers comes out as a record of its kind
        there = found is None or getattr(found, "fields", None) == right.fields
        return None if there else "the mask was to be on another device, and is not"
    if not isinstance(found, torch.Tensor):
        return "the mask lies on PyTorch's default device, not on the one that was asked for"
    return None if found.ndim >= 2 else "the result is no mask"
