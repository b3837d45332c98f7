"""What several exercises of the lesson say."""

import math

import torch


def next_to_nothing(seen, exact):
    """For results that are 0 on paper: a guard such as sqrt(x + 1e-8) is a matter of taste."""
    found = seen.values["result"]
    if found.shape != ():
        return f"the result has shape {tuple(found.shape)}, and must have ()"
    if torch.isnan(found):
        return "the result is NaN"
    return None if found.abs() < 1e-3 else "the result is far too large"


def more_than_nothing(seen, exact):
    """Only that what is not 0 on paper is not 0: how large it is, is judged elsewhere."""
    found = torch.as_tensor(seen.values["result"])
    return None if bool((found.abs() > 1e-3).any()) else "the result is 0 here, too, where it must not be"


ON_PAPER = (
    torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[math.log(3.0), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[8.0], [4.0]]),
)


def three(draw, *lead, T=3, S=5, K=6, V=2, dtype=torch.float32):
    """Query, key and value."""
    return tuple(draw.normal(*lead, *shape, dtype=dtype) for shape in ((T, K), (S, K), (S, V)))
