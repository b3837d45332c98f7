"""Right answers to `top_p` in other styles."""

import torch
import torch.nn.functional as F


# %% a_mask_put_back
def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError(f"p must lie in (0, 1], not {p}")
    probabilities = logits.softmax(-1)
    values, order = torch.sort(probabilities, -1, True)
    before = F.pad(values.cumsum(-1)[..., :-1], (1, 0))
    keep = torch.empty_like(before, dtype=torch.bool).scatter(-1, order, (before < p) | (p == 1))
    return F.normalize(probabilities.masked_fill(~keep, 0.0), p=1.0, dim=-1)


# %% logits_of_what_is_dropped
def top_p(logits, p):
    if not (p > 0 and p <= 1):
        raise ValueError(f"bad p: {p}")
    ordered, order = logits.sort(dim=-1, descending=True)
    total = ordered.softmax(dim=-1).cumsum(dim=-1)
    drop = total >= p
    drop = torch.cat([torch.zeros_like(drop[..., :1]), drop[..., :-1]], dim=-1)  # the one that reaches p is kept
    if p == 1:
        drop = torch.zeros_like(drop)
    ordered = ordered.masked_fill(drop, float("-inf"))
    return torch.empty_like(logits).scatter(-1, order, ordered.softmax(dim=-1))


# %% by_ranks
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p}")
    probabilities = torch.exp(torch.log_softmax(logits, -1))
    order = probabilities.argsort(dim=-1, descending=True)
    ranks = order.argsort(dim=-1)
    values = probabilities.gather(-1, order)
    missing = (values.cumsum(-1) - values < p).gather(-1, ranks)
    kept = probabilities * (missing if p < 1 else torch.ones_like(missing))
    return kept / kept.sum(dim=-1, keepdim=True)


# %% one_row_after_another
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p={p}")
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        probabilities = torch.softmax(row, 0)
        kept, total = torch.zeros_like(row), 0.0
        for place in row.argsort(descending=True).tolist():
            if total >= p and p < 1:
                break
            kept[place] = 1.0
            total += probabilities[place].item()
        rows.append(probabilities * kept / (probabilities * kept).sum())
    return torch.stack(rows).reshape(logits.shape)


# %% by_the_smallest_that_is_kept
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}")
    probabilities = logits.softmax(-1)
    if p < 1:
        ordered = probabilities.sort(-1, descending=True).values
        n_kept = (ordered.cumsum(-1) < p).sum(-1, keepdim=True)
        least = ordered.gather(-1, n_kept.clamp(max=logits.shape[-1] - 1))
        logits = torch.where(probabilities >= least, logits, float("-inf"))
    return logits.softmax(-1)


# %% from_the_least_probable_up
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError("p has to be above 0 and at most 1, and is %s" % p)
    probabilities = torch.softmax(logits, dim=-1)
    values, order = probabilities.sort(dim=-1)
    gone = values.cumsum(-1) <= 1 - p  # the smallest ones, as long as they and those before have no more than 1 - p
    gone[..., -1] = False
    kept = torch.where(gone, 0.0, values)
    kept = kept / kept.sum(-1, keepdim=True)
    return kept.gather(-1, order.argsort(-1))


# %% all_pairs_compared
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1]: {p}")
    probabilities = torch.softmax(logits, -1)
    greater = probabilities.unsqueeze(-2) > probabilities.unsqueeze(-1)
    before = (greater * probabilities.unsqueeze(-2)).sum(-1)
    scores = logits if p == 1 else logits.masked_fill(before >= p, -torch.inf)
    return torch.softmax(scores, -1)
