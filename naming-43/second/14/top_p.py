# %% wrong: cut_after | Keeps only the tokens whose cumulative sum is still at most p, so that the one that crosses p is lost.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p}")
    probs = F.softmax(logits, -1)
    if p == 1:
        return probs
    s, idx = torch.sort(probs, dim=-1, descending=True)
    keep = s.cumsum(-1) <= p
    keep[..., 0] = True
    mask = torch.zeros_like(keep).scatter(-1, idx, keep)
    out = probs * mask
    return out / out.sum(-1, keepdim=True)

# %% wrong: no_rescale | Sets the other tokens to 0 and does not divide by the sum of those kept.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept

# %% wrong: sorted_order | Returns the probabilities in sorted order instead of at their tokens.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    kept = s * keep_sorted
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: gather_back | Puts the mask back with gather by the sorting indices, which applies the permutation instead of its inverse.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = keep_sorted.gather(-1, order)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: ascending | Sorts from the least probable token up, so that the unlikely ones are kept.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=False)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: one_more | Shifts the cut twice, so that one token too many is kept.
def top_p(logits, p):
    if not (0 < p <= 1):
        raise ValueError("p must be in (0, 1], got " + str(p))
    probs = logits.softmax(-1)
    sorted_probs, idx = probs.sort(-1, descending=True)
    remove = (sorted_probs.cumsum(-1) - sorted_probs) >= p
    remove = torch.cat([torch.zeros_like(remove[..., :1]), remove[..., :-1]], -1)
    if p == 1:
        remove = torch.zeros_like(remove)
    remove = torch.zeros_like(remove).scatter(-1, idx, remove)
    return logits.masked_fill(remove, float("-inf")).softmax(-1)

# %% wrong: flat | Sorts and sums all rows together as one flat distribution.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p: {p}")
    probs = torch.softmax(logits, -1)
    if p == 1:
        return probs
    flat = probs.reshape(-1)
    s, o = flat.sort(descending=True)
    keep = torch.zeros(flat.numel(), dtype=torch.bool, device=flat.device)
    keep[o[(s.cumsum(0) - s) < p]] = True
    kept = flat * keep
    kept = kept.reshape(probs.shape)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: threshold_p | Keeps each token whose own probability is at least p, instead of looking at sums.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    keep_sorted = s >= p
    keep_sorted[..., 0] = True
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: returns_logits | Returns the filtered logits, as library warpers do, and not probabilities.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return logits
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    return logits.masked_fill(~keep, -float('inf'))

# %% wrong: in_place | Writes -inf into the caller's logits.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    with torch.no_grad():
        logits[~keep] = float('-inf')
    return torch.softmax(logits, -1)

# %% wrong: softmax_twice | Applies softmax to the kept probabilities instead of to the logits.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    return torch.softmax(probs.masked_fill(~keep, float('-inf')), -1)

# %% wrong: rejects_one | Raises ValueError for p = 1, which is allowed.
def top_p(logits, p):
    if not 0 < p < 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: detached | Takes the probabilities without gradient, so that nothing can be learned through them.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1).detach()
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: raw_exp | Takes exp of the logits without subtracting the largest, which overflows for large logits.
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = logits.exp() / logits.exp().sum(-1, keepdim=True)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: no_check | Does not check p, so that 0 or 1.5 is accepted.
def top_p(logits, p):
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% right: sort_scatter
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

# %% right: masked_logits
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = torch.zeros_like(keep_sorted).scatter(-1, order, keep_sorted)
    return logits.masked_fill(~keep, float('-inf')).softmax(-1)

# %% right: pairwise
def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError(f"p={p}")
    q = F.softmax(logits, -1)
    if p == 1:
        return q
    ahead = (q.unsqueeze(-2) > q.unsqueeze(-1)).to(q.dtype)
    mass = (ahead @ q.unsqueeze(-1)).squeeze(-1)
    kept = q * (mass < p)
    return kept / kept.sum(-1, keepdim=True)

# %% right: row_loop
def top_p(logits, p):
    if not (p > 0 and p <= 1):
        raise ValueError(f"p={p}")
    rows = torch.softmax(logits, -1).reshape(-1, logits.shape[-1])
    out = []
    for r in rows:
        mask = torch.zeros_like(r)
        total = 0.0
        for j in r.detach().argsort(descending=True).tolist():
            if p < 1 and total >= p:
                break
            mask[j] = 1.0
            total += r[j].item()
        out.append(r * mask / (r * mask).sum())
    return torch.stack(out).reshape(logits.shape)

# %% right: argsort_twice
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    s, order = probs.sort(dim=-1, descending=True)
    before = s.cumsum(-1) - s
    keep_sorted = before < p
    keep = keep_sorted.gather(-1, order.argsort(-1))
    kept = probs.masked_fill(~keep, 0.0)
    return kept / kept.sum(-1, keepdim=True)

