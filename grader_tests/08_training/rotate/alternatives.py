"""Right answers to `rotate`."""

import torch


# %% by_pairs
def rotate(x):
    T, K = x.shape[-2:]
    frequencies = 10000.0 ** (-torch.arange(0, K, 2, device=x.device) / K)
    turns = torch.arange(T, device=x.device)[:, None] * frequencies  # (T, K / 2)
    cos, sin = turns.cos().to(x.dtype), turns.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


# %% by_complex_numbers
def rotate(x):
    T, K = x.shape[-2:]
    turns = torch.outer(torch.arange(float(T)), 10000.0 ** (-torch.arange(0, K, 2) / K)).to(x)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(turns), turns)).flatten(-2)
