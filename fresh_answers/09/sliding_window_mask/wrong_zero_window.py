# a window of 0 is not refused
import torch


def sliding_window_mask(T, window, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S is {S}, but has to be at least {T}")
    if window < 0:
        raise ValueError(f"window is {window}")
    ones = torch.ones(T, S, dtype=torch.bool, device=device)
    return ~(ones.tril(S - T) & ones.triu(S - T - window + 1))
