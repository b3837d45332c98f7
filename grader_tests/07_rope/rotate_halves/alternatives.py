"""Right answers to `rotate_halves`."""

import torch


# %% by_halves
def rotate_halves(x, positions, base=10000.0):
    dim = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, dim, 2) / dim)
    cos, sin = angles.cos(), angles.sin()
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


# %% with_partners
def rotate_halves(x, positions, base=10000.0):
    dim = x.shape[-1]
    angles = (positions[:, None] * base ** (-torch.arange(0, dim, 2) / dim)).repeat(1, 2)
    partner = torch.cat([-x[..., dim // 2 :], x[..., : dim // 2]], dim=-1)
    return x * angles.cos() + partner * angles.sin()
