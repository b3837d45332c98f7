# %% wrong: window_off_by_one | A key exactly `window` positions before the query is left visible, so the window holds window + 1 keys.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S={S} must be at least T={T}")
    if window < 1:
        raise ValueError(f"window={window} must be at least 1")
    if sinks < 0:
        raise ValueError(f"sinks={sinks} must be at least 0")
    q = torch.arange(S - T, S, device=device)[:, None]
    k = torch.arange(S, device=device)[None, :]
    return (k > q) | ((q - k > window) & (k >= sinks))
# %% wrong: future_sinks_visible | The sinks are opened last for all queries, so early queries see sinks that lie after them.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T: raise ValueError(f"S must be >= T, got S={S}, T={T}")
    if window < 1: raise ValueError(f"window must be >= 1, got {window}")
    if sinks < 0: raise ValueError(f"sinks must be >= 0, got {sinks}")
    i = torch.arange(T, device=device).unsqueeze(1) + (S - T)
    j = torch.arange(S, device=device).unsqueeze(0)
    mask = (j > i) | (i - j >= window)
    mask[:, :sinks] = False
    return mask
# %% wrong: no_offset | Query i is taken to be at position i, and not at S - T + i, when there are more keys than queries.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S ({S}) < T ({T})")
    if window < 1:
        raise ValueError(f"window is {window}, must be >= 1")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}, must be >= 0")
    rows = torch.arange(T, device=device).view(-1, 1)
    cols = torch.arange(S, device=device).view(1, -1)
    future = cols > rows
    old = rows - cols >= window
    return future | (old & (cols >= sinks))
# %% wrong: inverted | True marks the visible keys and not the blocked ones.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = S if S is not None else T
    if S < T:
        raise ValueError(f"S must not be smaller than T: S={S}, T={T}")
    if window < 1:
        raise ValueError(f"window must be positive: window={window}")
    if sinks < 0:
        raise ValueError(f"sinks must not be negative: sinks={sinks}")
    pos = torch.arange(S, device=device)
    dist = pos[S - T:, None] - pos[None]
    visible = (dist >= 0) & ((dist < window) | (pos < sinks))
    return visible
# %% wrong: float_mask | The mask is a float tensor with -inf at blocked keys and 0 elsewhere, and not a boolean one.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S={S} is smaller than T={T}")
    if window < 1:
        raise ValueError(f"window={window} < 1")
    if sinks < 0:
        raise ValueError(f"sinks={sinks} < 0")
    d = torch.arange(S - T, S, device=device)[:, None] - torch.arange(S, device=device)
    far = (d >= window) & (torch.arange(S, device=device) >= sinks)
    return torch.zeros(T, S, device=device).masked_fill((d < 0) | far, float("-inf"))
# %% wrong: device_ignored | The argument device is ignored, and the mask is always made on the CPU.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S must be >= T; S = {S}, T = {T}")
    if window < 1:
        raise ValueError(f"window must be >= 1; window = {window}")
    if sinks < 0:
        raise ValueError(f"sinks must be >= 0; sinks = {sinks}")
    i = torch.arange(T)[:, None] + S - T
    j = torch.arange(S)[None, :]
    return (j > i) | ((j <= i - window) & (j >= sinks))
# %% wrong: zero_S_is_None | `S or T` treats S = 0 as if S had not been given, so no error is raised for S = 0.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = S or T
    if S < T:
        raise ValueError(f"S must be >= T, got {S}")
    if window < 1:
        raise ValueError(f"window must be >= 1, got {window}")
    if sinks < 0:
        raise ValueError(f"sinks must be >= 0, got {sinks}")
    q = torch.arange(T, device=device).reshape(T, 1) + (S - T)
    k = torch.arange(S, device=device).reshape(1, S)
    blocked = torch.logical_and(q - k >= window, k >= sinks)
    return torch.logical_or(blocked, k > q)
# %% wrong: window_includes_sinks | The sinks are counted as part of the window, which is shortened by their number.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S={S}, T={T}: S must be at least T")
    if window < 1:
        raise ValueError(f"window must be at least 1, is {window}")
    if sinks < 0:
        raise ValueError(f"sinks must be at least 0, is {sinks}")
    recent = max(1, window - sinks)
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)[None]
    return (j > i) | ((i - j >= recent) & (j >= sinks))
# %% wrong: and_for_or | The conditions are joined by "and" where "or" is meant; no key is after the query and also long before it, so nothing is blocked.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S must be at least T={T}, got {S}")
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    if sinks < 0:
        raise ValueError(f"sinks must be at least 0, got {sinks}")
    mask = torch.zeros(T, S, dtype=torch.bool, device=device)
    for i in range(T):
        p = S - T + i
        for j in range(S):
            if j > p and p - j >= window and j >= sinks:
                mask[i, j] = True
    return mask
# %% wrong: one_sink_too_many | The sinks are the keys with index <= sinks, which is one too many.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    for ok, text in ((S >= T, f"S={S} is less than T={T}"), (window >= 1, f"window={window} is less than 1"), (sinks >= 0, f"sinks={sinks} is less than 0")):
        if not ok:
            raise ValueError(text)
    q = torch.arange(S - T, S, device=device)[:, None]
    k = torch.arange(S, device=device)
    is_sink = k <= sinks
    return (k > q) | ((q - k >= window) & ~is_sink)
# %% wrong: window_zero_allowed | A window of 0 is accepted, since only negative windows raise ValueError.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S < T: S={S}, T={T}")
    if window < 0 or sinks < 0:
        raise ValueError(f"window and sinks must not be negative: window={window}, sinks={sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)[None, :]
    causal = j > i
    outside = i - j >= window
    sink = j < sinks
    return causal | (outside & ~sink)
# %% wrong: symmetric_window | The window reaches to both sides (|i - j| < window), so the next keys after the query are visible.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S={S} must be >= T={T}")
    if window < 1:
        raise ValueError(f"window={window} must be >= 1")
    if sinks < 0:
        raise ValueError(f"sinks={sinks} must be >= 0")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)[None, :]
    far = (i - j).abs() >= window
    return far & ((j >= sinks) | (j > i))
# %% wrong: sink_queries | The first rows (queries) are freed from the window, and not the first columns (keys).
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S must be >= T but S={S}, T={T}")
    if window < 1:
        raise ValueError(f"window must be >= 1 but is {window}")
    if sinks < 0:
        raise ValueError(f"sinks must be >= 0 but is {sinks}")
    i = torch.arange(T, device=device)[:, None] + (S - T)
    j = torch.arange(S, device=device)[None, :]
    too_old = i - j >= window
    too_old[:sinks] = False
    return too_old | (j > i)
# %% wrong: negative_slice | For early queries the start of the window is negative, which Python counts from the end, so the slice is empty and the query does not even see itself.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S must not be below T ({S} < {T})")
    if window < 1:
        raise ValueError(f"window must be at least 1 ({window})")
    if sinks < 0:
        raise ValueError(f"sinks must be at least 0 ({sinks})")
    mask = torch.ones(T, S, dtype=torch.bool, device=device)
    for i in range(T):
        pos = S - T + i
        mask[i, pos - window + 1:pos + 1] = False
        mask[i, :min(sinks, pos + 1)] = False
    return mask
# %% wrong: sinks_not_checked | A negative number of sinks is accepted without ValueError.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S must be at least T, got S={S}, T={T}")
    if window < 1:
        raise ValueError(f"window must be at least 1, got window={window}")
    ones = torch.ones(T, S, dtype=torch.bool, device=device)
    future = ones.triu(S - T + 1)
    past = ones.tril(S - T - window)
    past[:, :max(sinks, 0)] = False
    return future | past
# %% right: arange
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S must be at least T, got S={S} and T={T}")
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    if sinks < 0:
        raise ValueError(f"sinks must be at least 0, got {sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j > i) | ((i - j >= window) & (j >= sinks))
# %% right: triangles
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T: raise ValueError(f"S = {S} < T = {T}")
    if window < 1: raise ValueError(f"window = {window} < 1")
    if sinks < 0: raise ValueError(f"sinks = {sinks} < 0")
    full = torch.ones(T, S, dtype=torch.bool, device=device)
    late = full.triu(diagonal=S - T + 1)
    early = full.tril(diagonal=S - T - window)
    early[:, :sinks] = False
    return late | early
# %% right: loops
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S={S} is less than T={T}")
    if window < 1:
        raise ValueError(f"window={window} is less than 1")
    if sinks < 0:
        raise ValueError(f"sinks={sinks} is less than 0")
    rows = []
    for i in range(T):
        p = S - T + i
        rows.append([not (j <= p and (p - j < window or j < sinks)) for j in range(S)])
    return torch.tensor(rows, dtype=torch.bool, device=device)
# %% right: visible_slices
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if not S >= T:
        raise ValueError(f"there are fewer keys than queries, S={S}, T={T}")
    if not window >= 1:
        raise ValueError(f"window must be >= 1: {window}")
    if not sinks >= 0:
        raise ValueError(f"sinks must be >= 0: {sinks}")
    mask = torch.ones((T, S), dtype=torch.bool, device=device)
    for i in range(T):
        end = S - T + i + 1
        mask[i, max(0, end - window):end] = False
        mask[i, :min(sinks, end)] = False
    return mask
# %% right: last_rows_of_square
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    bad = []
    if S < T:
        bad.append(f"S={S} is smaller than T={T}")
    if window < 1:
        bad.append(f"window={window} is smaller than 1")
    if sinks < 0:
        bad.append(f"sinks={sinks} is negative")
    if bad:
        raise ValueError("; ".join(bad))
    p = torch.arange(S, device=device)
    back = p.unsqueeze(1) - p.unsqueeze(0)
    keep = (back >= 0).logical_and((back < window).logical_or(p < sinks))
    return keep.logical_not()[S - T:].clone()
