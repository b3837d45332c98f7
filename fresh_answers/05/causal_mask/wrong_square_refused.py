# S equal to T is refused when it is given
import torch


def causal_mask(T, S=None, device=None):
    if S is None:
        columns = torch.arange(T, device=device)
        return columns > columns[:, None]
    if S <= T:
        raise ValueError(f"S = {S} is too small for T = {T}")
    return torch.arange(S, device=device) > torch.arange(S - T, S, device=device)[:, None]
