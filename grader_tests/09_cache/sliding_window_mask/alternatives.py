"""Right answers to `sliding_window_mask` in other styles."""

import torch


# %% by_distances
def sliding_window_mask(T, window, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"expected S >= T, but S={S} and T={T}")
    if window < 1:
        raise ValueError(f"window={window} is too small")
    i = torch.arange(S - T, S, device=device).unsqueeze(1)
    j = torch.arange(S, device=device)
    distance = i - j
    return (distance < 0) | (distance >= window)


# %% with_two_loops
def sliding_window_mask(T, window, S=None, device=None):
    if S is None:
        S = T
    if T > S:
        raise ValueError("T = " + str(T) + " is too large")
    if not window > 0:
        raise ValueError("window = " + str(window))
    rows = [[not (S - T + i - window < j <= S - T + i) for j in range(S)] for i in range(T)]
    return torch.tensor(rows, dtype=torch.bool, device=device)


# %% filling_row_by_row
def sliding_window_mask(T, window, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, T is {T}")
    if window <= 0:
        raise ValueError(f"window must be positive, it is {window}")
    mask = torch.full((T, S), True, device=device)
    for i in range(T):
        last = S - T + i
        mask[i, max(0, last - window + 1) : last + 1] = False
    return mask


# %% two_triangles
def sliding_window_mask(T, window, S=None, device=None):
    S = T if S is None else S
    if S - T < 0:
        raise ValueError(f"T: {T}; S: {S}")
    if window < 1:
        raise ValueError(f"window: {window}")
    full = torch.ones((T, S), dtype=torch.bool, device=device)
    return torch.logical_or(full.triu(S - T + 1), full.tril(S - T - window))
