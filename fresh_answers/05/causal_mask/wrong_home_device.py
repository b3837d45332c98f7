# the device is ignored
import torch


def causal_mask(T, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S={S} must not be less than T={T}")
    places = torch.arange(S)
    return places[None, :] > places[S - T :, None]
