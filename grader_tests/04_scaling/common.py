"""Constants and helpers that several exercises of the lesson share."""

import math

import torch

ON_PAPER = (
    torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[math.log(3.0), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    torch.tensor([[8.0], [4.0]]),
)


def three(draw, *lead, T=3, S=5, K=6, V=2, dtype=torch.float32):
    """Query, key and value."""
    return tuple(draw.normal(*lead, *shape, dtype=dtype) for shape in ((T, K), (S, K), (S, V)))
