# nested lists of Python bools
import torch


def causal_mask(T, S=None, device=None):
    if S is None:
        S = T
    missing = S - T
    if missing < 0:
        raise ValueError(f"T: {T} queries cannot be the last of {S} positions")
    table = [[False] * (missing + i + 1) + [True] * (T - i - 1) for i in range(T)]
    return torch.tensor(table, dtype=torch.bool, device=device)
