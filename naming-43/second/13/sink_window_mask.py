# %% wrong: window_off_by_one | Window counts the positions before the query besides its own, so window + 1 keys stay open.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S = {S} is smaller than T = {T}")
    if window < 1: raise ValueError(f"window must be at least 1, got {window}")
    if sinks < 0: raise ValueError(f"sinks must be at least 0, got {sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)[None]
    return (j > i) | ((i - j > window) & (j >= sinks))

# %% wrong: open_is_true | True marks the keys that may be seen, as scaled_dot_product_attention wants it.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S} < T={T}")
    if window < 1: raise ValueError(f"window={window} < 1")
    if sinks < 0: raise ValueError(f"sinks={sinks} < 0")
    q = torch.arange(T, device=device).unsqueeze(1) + S - T
    k = torch.arange(S, device=device)
    return (k <= q) & ((q - k < window) | (k < sinks))

# %% wrong: sinks_in_the_future | The first positions are open to every query, also to those before them.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = S if S is not None else T
    if S < T: raise ValueError(f"S={S} is less than T={T}")
    if window < 1: raise ValueError(f"window is {window}")
    if sinks < 0: raise ValueError(f"sinks is {sinks}")
    pos = torch.arange(S - T, S, device=device).view(-1, 1)
    keys = torch.arange(S, device=device).view(1, -1)
    blocked = (keys > pos) | (pos - keys >= window)
    blocked[:, :sinks] = False
    return blocked

# %% wrong: queries_first_rows | The queries are put at the first T positions instead of the last.
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None: S = T
    if S < T: raise ValueError(f"S must be >= T, got S={S}")
    if window < 1: raise ValueError(f"window must be >= 1, got {window}")
    if sinks < 0: raise ValueError(f"sinks must be >= 0, got {sinks}")
    i = torch.arange(T, device=device)[:, None]
    j = torch.arange(S, device=device)[None, :]
    return (j > i) | ((j <= i - window) & (j >= sinks))

# %% wrong: triu_no_offset | The causal part comes from triu without the offset S - T.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S = {S} < T")
    if window < 1: raise ValueError(f"window = {window}")
    if sinks < 0: raise ValueError(f"sinks = {sinks}")
    ones = torch.ones(T, S, dtype=torch.bool, device=device)
    causal = ones.triu(1)
    old = ones.tril(S - T - window)
    old[:, :sinks] = False
    return causal | old

# %% wrong: s_zero_is_none | S is tested for truth, so that S = 0 is taken as not given instead of as too small.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = S or T
    if S < T: raise ValueError(f"S is {S}, T is {T}")
    if window < 1: raise ValueError(f"window is {window}")
    if sinks < 0: raise ValueError(f"sinks is {sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j > i) | ((i - j >= window) & (j >= sinks))

# %% wrong: zero_window_passes | A window of 0 is accepted.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S} must not be below T={T}")
    if window < 0: raise ValueError(f"window={window} is negative")
    if sinks < 0: raise ValueError(f"sinks={sinks} is negative")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j > i) | ((i - j >= window) & (j >= sinks))

# %% wrong: last_sink_open_too | The comparison includes the position sinks itself, so one more position counts as a sink.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    m = torch.zeros(T, S, dtype=torch.bool, device=device)
    for t in range(T):
        p = S - T + t
        for j in range(S):
            is_sink = j <= sinks
            m[t, j] = j > p or (p - j >= window and not is_sink)
    return m

# %% wrong: sinks_relative_to_window | The sinks are the positions just before the window, not the first of the text.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    d = torch.arange(S - T, S, device=device)[:, None] - torch.arange(S, device=device)
    return (d < 0) | (d >= window + sinks)

# %% wrong: window_contains_sinks | The sinks are counted as part of the window, which becomes shorter by them.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    recent = max(window - sinks, 1)
    d = torch.arange(S - T, S, device=device)[:, None] - torch.arange(S, device=device)
    far = (d >= recent) & (torch.arange(S, device=device) >= sinks)
    return (d < 0) | far

# %% wrong: float_additive | The mask holds 0 and -inf to be added to the scores, not booleans.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    b = (j > i) | ((i - j >= window) & (j >= sinks))
    return torch.zeros(T, S, device=device).masked_fill(b, float("-inf"))

# %% wrong: no_causal | The window is cut on the left only; keys after the query stay open.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    pos = S - T + torch.arange(T, device=device)
    return torch.stack([(torch.arange(S, device=device) <= p - window) & (torch.arange(S, device=device) >= sinks) for p in pos])

# %% wrong: same_window_for_all | One left border, that of the last query, serves all queries.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    mask = torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
    mask[:, sinks:max(S - window, sinks)] = True
    return mask

# %% wrong: large_window_refused | A window or a number of sinks greater than S is refused, although both are allowed.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if not 1 <= window <= S: raise ValueError(f"window={window}")
    if not 0 <= sinks <= S: raise ValueError(f"sinks={sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j > i) | ((i - j >= window) & (j >= sinks))

# %% wrong: slice_wraps_around | The left border of the slice becomes negative for early queries and counts from the end.
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S}, T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    mask = torch.ones(T, S, dtype=torch.bool, device=device)
    for i in range(T):
        p = S - T + i
        mask[i, p - window + 1:p + 1] = False
        mask[i, :min(sinks, p + 1)] = False
    return mask

# %% right: compare
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S must be at least T, got S = {S}, T = {T}")
    if window < 1: raise ValueError(f"window must be at least 1, got {window}")
    if sinks < 0: raise ValueError(f"sinks must be at least 0, got {sinks}")
    i = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j > i) | ((i - j >= window) & (j >= sinks))

# %% right: triangles
def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None: S = T
    for bad, name, value in ((S < T, "S", S), (window < 1, "window", window), (sinks < 0, "sinks", sinks)):
        if bad:
            raise ValueError(f"{name} is {value}")
    full = torch.ones((T, S), dtype=torch.bool, device=device)
    old = full.tril(S - T - window)
    old[:, :sinks] = False
    return old | full.triu(S - T + 1)

# %% right: python_lists
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S} T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    rows = [[j > p or (j <= p - window and j >= sinks) for j in range(S)] for p in range(S - T, S)]
    return torch.tensor(rows, dtype=torch.bool, device=device).reshape(T, S)

# %% right: open_then_close
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S} T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    mask = torch.ones(T, S, dtype=torch.bool, device=device)
    for t in range(T):
        end = S - T + t + 1
        mask[t, max(0, end - window):end] = False
        mask[t, :min(end, sinks)] = False
    return mask

# %% right: cut_from_square
def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T: raise ValueError(f"S={S} T={T}")
    if window < 1: raise ValueError(f"window={window}")
    if sinks < 0: raise ValueError(f"sinks={sinks}")
    n = torch.arange(S, device=device)
    d = n.unsqueeze(1) - n.unsqueeze(0)
    seen = (d >= 0).logical_and((d < window).logical_or(n < sinks))
    return ~seen[S - T:]
