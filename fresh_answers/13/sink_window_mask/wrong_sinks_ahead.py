# the sinks are open for every query, also where they come after it
import torch


def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S = {S} is less than T = {T}")
    if window < 1:
        raise ValueError(f"window = {window}")
    if sinks < 0:
        raise ValueError(f"sinks = {sinks}")
    key = torch.arange(S, device=device)
    query = torch.arange(S - T, S, device=device)[:, None]
    mask = (key > query) | (query - key >= window)
    mask[:, :sinks] = False
    return mask
