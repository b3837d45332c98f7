"""Right answers to `sink_window_mask` in other styles."""

import torch


# %% by_distances
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"expected S >= T, but S={S} and T={T}")
    if window < 1:
        raise ValueError(f"window={window} is too small")
    if sinks < 0:
        raise ValueError(f"sinks={sinks} is negative")
    i = torch.arange(S - T, S, device=device).unsqueeze(1)
    j = torch.arange(S, device=device)
    return (j > i) | ((i - j >= window) & (j >= sinks))


# %% what_is_seen
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = S if S is not None else T
    if T > S:
        raise ValueError(f"T is {T}, more than S = {S}")
    if window <= 0:
        raise ValueError(f"window is {window}")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}")
    query = torch.arange(T, device=device).view(-1, 1) + (S - T)
    key = torch.arange(S, device=device).view(1, -1)
    near = (query - window < key) & (key <= query)
    sink = (key < sinks) & (key <= query)
    return ~(near | sink)


# %% with_two_loops
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError("S = " + str(S) + " is too small")
    if not window >= 1:
        raise ValueError("window = " + str(window))
    if not sinks >= 0:
        raise ValueError("sinks = " + str(sinks))
    rows = []
    for position in range(S - T, S):
        rows.append([j > position or (j <= position - window and j >= sinks) for j in range(S)])
    return torch.tensor(rows, dtype=torch.bool, device=device)


# %% filling_row_by_row
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    for name, value, least in (("S", S, T), ("window", window, 1), ("sinks", sinks, 0)):
        if value < least:
            raise ValueError(f"{name} is {value}, less than {least}")
    mask = torch.full((T, S), True, device=device)
    for i in range(T):
        last = S - T + i
        mask[i, : min(sinks, last + 1)] = False
        mask[i, max(0, last + 1 - window) : last + 1] = False
    return mask


# %% triangles
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S - T < 0:
        raise ValueError(f"T: {T}; S: {S}")
    if window < 1:
        raise ValueError(f"window: {window}")
    if sinks < 0:
        raise ValueError(f"sinks: {sinks}")
    full = torch.ones((T, S), dtype=torch.bool, device=device)
    too_far = full.tril(S - T - window)
    too_far[:, :sinks] = False
    return torch.logical_or(full.triu(S - T + 1), too_far)


# %% sorted_by_kind
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S is {S}, T is {T}")
    if window < 1:
        raise ValueError(f"the window is {window}, and at least 1 is needed")
    if sinks < 0:
        raise ValueError(f"there are {sinks} sinks, which is impossible")
    distance = torch.arange(S - T, S, device=device)[:, None] - torch.arange(S, device=device)[None]
    late = torch.arange(S, device=device).ge(sinks).expand(T, S)
    return distance.lt(0).logical_or(distance.ge(window).logical_and(late))
