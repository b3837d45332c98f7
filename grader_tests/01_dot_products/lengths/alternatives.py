"""Right answers to `lengths` in other styles."""

import torch


# %% by_squares
def lengths(x):
    squares = x * x
    return squares.sum(dim=-1, keepdim=True).sqrt()


# %% by_norm
def lengths(x):
    return torch.linalg.vector_norm(x, dim=-1, keepdim=True)
