# %% wrong: absolute | Compares with p itself and not with p times the largest probability.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = (probs >= p) | (probs == top)
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: logit_bound | Compares the logits with p times the largest logit.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    keep = logits >= p * logits.max(-1, keepdim=True).values
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: no_rescale | Does not rescale what is kept to sum to 1.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept

# %% wrong: strict | Uses a strict comparison, so that the most probable token itself is lost at p = 1.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs > p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: global_max | Takes the largest probability of the whole tensor instead of each row's.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max()
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: below | Keeps the tokens below the bound instead of those above.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = (probs <= p * top) | (probs == top)
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: rejects_zero | Raises ValueError for p = 0, which is allowed.
def min_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: mean_bound | Takes p times the mean probability as the bound.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.mean(dim=-1, keepdim=True)
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: softmax_of_probs | Applies softmax a second time, to the kept probabilities.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    return F.softmax(probs.masked_fill(~keep, float('-inf')), dim=-1)

# %% wrong: zero_logits | Sets the removed logits to 0 instead of -inf before the softmax.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    return F.softmax(torch.where(keep, logits, torch.zeros_like(logits)), dim=-1)

# %% wrong: in_place | Masks the caller's logits in place.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    logits.data[~keep] = float('-inf')
    return torch.softmax(logits, -1)

# %% wrong: clamp | Raises small probabilities to the bound instead of removing them.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    kept = torch.maximum(probs, p * top)
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: first_axis | Takes the largest probability along the first axis.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=0, keepdim=True).values
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: one_minus | Reads p as the part that may be cut and bounds by 1 - p.
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= (1 - p) * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: assert_error | Checks p with assert, which raises AssertionError and not ValueError.
def min_p(logits, p):
    assert 0 <= p <= 1, f"p = {p}"
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% right: where
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)

# %% right: masked_softmax
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be in [0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    top = probs.max(dim=-1, keepdim=True).values
    keep = probs >= p * top
    return logits.masked_fill(~keep, float('-inf')).softmax(-1)

# %% right: log_space
def min_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError(f"p={p}")
    if p == 0:
        return logits.softmax(-1)
    gap = logits - logits.amax(-1, keepdim=True)
    return logits.masked_fill(gap < math.log(p), -math.inf).softmax(-1)

# %% right: exp_ratio
def min_p(logits, p):
    if not (p >= 0 and p <= 1):
        raise ValueError(f"p={p}")
    e = torch.exp(logits - logits.max(-1, keepdim=True).values.detach())
    e = e * (e.detach() >= p)
    return e / e.sum(-1, keepdim=True)

# %% right: row_loop
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p={p}")
    n = logits.shape[-1]
    rows = []
    for r in logits.reshape(-1, n).softmax(-1).unbind(0):
        k = r * (r >= p * r.max()).to(r.dtype)
        rows.append(k / k.sum())
    return torch.stack(rows).view(logits.shape)

