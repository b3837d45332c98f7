# a negative number of heads that divides D is not refused by a ValueError
import torch


def split_heads(x, n_heads):
    if n_heads == 0 or x.shape[-1] % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} must divide the width {x.shape[-1]}")
    width = x.shape[-1] // n_heads
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(n_heads)], dim=1)
