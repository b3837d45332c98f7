"""Right answers to `turn`."""

import math

import torch


# %% number_by_number
def turn(x, angle):
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.stack([x[..., 0] * cos - x[..., 1] * sin, x[..., 0] * sin + x[..., 1] * cos], dim=-1)


# %% by_a_matrix
def turn(x, angle):
    cos, sin = math.cos(angle), math.sin(angle)
    return x @ torch.tensor([[cos, sin], [-sin, cos]], dtype=x.dtype)
