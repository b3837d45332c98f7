# %% wrong: drops_crossing_token | Leaves out the token with which the sum reaches p, so the kept probabilities sum to less than p.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    sorted_probs, order = probs.sort(dim=-1, descending=True)
    keep = sorted_probs.cumsum(-1) <= p
    keep = torch.cat([torch.ones_like(keep[..., :1]), keep[..., 1:]], -1)
    mask = torch.zeros_like(keep).scatter(-1, order, keep)
    kept = probs * mask
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: not_rescaled | Sets the other tokens to 0 but does not rescale the kept ones to sum to 1.
import torch

def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError(f"p={p} must be above 0 and at most 1")
    probs = logits.softmax(-1)
    if p == 1:
        return probs
    values, idx = torch.sort(probs, dim=-1, descending=True)
    before = values.cumsum(-1) - values
    values = values.masked_fill(before >= p, 0)
    return torch.zeros_like(probs).scatter(-1, idx, values)

# %% wrong: left_sorted | Returns the probabilities in sorted order and never puts them back to the places of their tokens.
import torch.nn.functional as F

def top_p(logits, p):
    if not (0 < p <= 1):
        raise ValueError(f"p has to be in (0, 1], not {p}")
    ranked = F.softmax(logits, -1).sort(-1, descending=True).values
    keep = (ranked.cumsum(-1) - ranked < p) | (p == 1)
    ranked = ranked * keep
    return ranked / ranked.sum(-1, keepdim=True)

# %% wrong: order_not_inverted | Brings the mask back with the sorting order instead of its inverse, so it lands on other tokens.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    if p == 1:
        return probs
    order = probs.argsort(-1, descending=True)
    ranked = probs.gather(-1, order)
    keep_ranked = (torch.cumsum(ranked, -1) - ranked) < p
    keep = keep_ranked.gather(-1, order)
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    total = kept.sum(-1, keepdim=True)
    return kept / total

# %% wrong: least_probable_first | Sorts in ascending order, so it keeps the least probable tokens.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p should be in (0, 1]; p = {p}")
    if p == 1:
        return logits.softmax(-1)
    s, i = torch.sort(logits.softmax(-1), dim=-1)
    drop = s.cumsum(-1) - s >= p
    drop = torch.zeros_like(drop).scatter(-1, i, drop)
    return logits.masked_fill(drop, float("-inf")).softmax(-1)

# %% wrong: returns_logits | Returns filtered logits with -inf, as the libraries' logits processors do, instead of probabilities.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"`p` has to be a float > 0 and <= 1, but is {p}")
    if p == 1:
        return logits * 1
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative_probs = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    remove = cumulative_probs > p
    remove = torch.cat([torch.zeros_like(remove[..., :1]), remove[..., :-1]], dim=-1)
    indices_to_remove = remove.scatter(-1, sorted_indices, remove)
    return logits.masked_fill(indices_to_remove, float("-inf"))

# %% wrong: sums_over_first_dimension | Sorts and sums along the first dimension, which mixes the rows of a batch.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, -1)
    if p == 1:
        return probs
    ranked, order = probs.sort(0, descending=True)
    keep = ranked.cumsum(0) - ranked < p
    keep = torch.zeros_like(keep).scatter(0, order, keep)
    keep = keep | (probs == probs.max(-1, keepdim=True).values)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: changes_logits | Writes -inf into the logits that it was given.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    if p == 1:
        return torch.softmax(logits, -1)
    flat = logits.reshape(-1, logits.shape[-1]) if not logits.is_contiguous() else logits.view(-1, logits.shape[-1])
    with torch.no_grad():
        for row in flat:
            probs = torch.softmax(row, -1)
            total = 0.0
            for rank, token in enumerate(probs.argsort(descending=True).tolist()):
                if total >= p:
                    row[token] = float("-inf")
                total += probs[token].item()
    return torch.softmax(flat, -1).reshape(logits.shape)

# %% wrong: built_from_numbers | Builds the result from plain Python numbers, so no gradient flows back to the logits.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    rows = torch.softmax(logits, -1).reshape(-1, logits.shape[-1]).tolist()
    result = []
    for row in rows:
        ranked = sorted(range(len(row)), key=lambda i: -row[i])
        chosen, total = [], 0.0
        for i in ranked:
            if total >= p and p < 1:
                break
            chosen.append(i)
            total += row[i]
        new = [0.0] * len(row)
        for i in chosen:
            new[i] = row[i] / total
        result.append(new)
    return torch.tensor(result, dtype=logits.dtype).reshape(logits.shape)

# %% wrong: p_zero_accepted | Accepts p = 0 and answers with the most probable token instead of raising ValueError.
import torch

def top_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    ranked, order = torch.sort(probs, dim=-1, descending=True)
    n_keep = (ranked.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    places = torch.arange(probs.shape[-1], device=probs.device)
    keep_ranked = (places < n_keep).expand_as(probs)
    keep = torch.zeros_like(keep_ranked).scatter(-1, order, keep_ranked)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: p_one_loses_the_tail | Relies on the running sum for p = 1, which rounds up to 1 early and drops very improbable tokens.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, dim=-1)
    ranked, order = torch.sort(probs, dim=-1, descending=True)
    cumulative = ranked.cumsum(-1)
    before = torch.cat([torch.zeros_like(cumulative[..., :1]), cumulative[..., :-1]], -1)
    keep = torch.zeros_like(probs, dtype=torch.bool).scatter(-1, order, before < p)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: softmax_of_probabilities | Rescales the kept probabilities with a second softmax over probabilities, which flattens them.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, dim=-1)
    ranked, order = torch.sort(probs, dim=-1, descending=True)
    drop_ranked = (ranked.cumsum(-1) - ranked >= p) & (p < 1)
    drop = torch.zeros_like(drop_ranked).scatter(-1, order, drop_ranked)
    drop = drop | torch.isneginf(logits)
    return torch.softmax(probs.masked_fill(drop, float("-inf")), dim=-1)

# %% wrong: threshold_per_token | Keeps the tokens whose own probability is at least p, instead of the smallest set that sums to at least p.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = logits.softmax(dim=-1)
    if p == 1:
        return probs
    best = probs.amax(-1, keepdim=True)
    kept = torch.where((probs >= p) | (probs == best), probs, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)

# %% wrong: sum_held_constant | Detaches the sum by which it divides, so the values are right but the gradient ignores the rescaling.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, dim=-1)
    with torch.no_grad():
        ranked, order = torch.sort(probs, dim=-1, descending=True)
        keep_ranked = (ranked.cumsum(-1) - ranked < p) | (p == 1)
        keep = torch.zeros_like(keep_ranked).scatter(-1, order, keep_ranked)
        total = (probs * keep).sum(-1, keepdim=True)
    return probs * keep / total

# %% wrong: same_number_for_all_rows | Keeps the same number of tokens in every row, as many as the row that needs most.
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    ranked = probs.sort(-1, descending=True).values
    k = int(((ranked.cumsum(-1) - ranked) < p).sum(-1).max())
    values, places = probs.topk(k, dim=-1)
    values = values / values.sum(-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, places, values)

# %% right: sort_cumsum_scatter
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    ranked, order = torch.sort(probs, dim=-1, descending=True)
    keep_ranked = ranked.cumsum(-1) - ranked < p
    keep = torch.zeros_like(keep_ranked).scatter(-1, order, keep_ranked)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)

# %% right: mask_logits
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"`p` has to be > 0 and <= 1, but is {p}")
    if p == 1:
        return logits.softmax(-1)
    sorted_logits, sorted_indices = torch.sort(logits, descending=False, dim=-1)
    cumulative = sorted_logits.softmax(-1).cumsum(-1)
    remove = cumulative <= 1 - p
    remove[..., -1] = False
    remove = remove.scatter(-1, sorted_indices, remove.clone())
    return logits.masked_fill(remove, float("-inf")).softmax(-1)

# %% right: mass_above
import torch

def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError(f"p = {p} is not in (0, 1]")
    q = torch.softmax(logits, -1)
    if p == 1:
        return q
    more_probable = q[..., None, :] > q[..., :, None]
    above = (more_probable * q[..., None, :]).sum(-1)
    kept = torch.where(above < p, q, torch.zeros_like(q))
    return kept / kept.sum(-1, keepdim=True)

# %% right: row_by_row
import torch

def _one(row, p):
    probs = torch.softmax(row, -1)
    if p == 1:
        return probs
    chosen, total = [], 0.0
    for token in probs.argsort(descending=True).tolist():
        chosen.append(token)
        total += probs[token].item()
        if total >= p:
            break
    chosen = torch.tensor(chosen, device=row.device)
    return torch.zeros_like(row).index_put((chosen,), torch.softmax(row[chosen], -1))

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    rows = logits.reshape(-1, logits.shape[-1])
    return torch.stack([_one(row, p) for row in rows]).reshape(logits.shape)

# %% right: number_to_keep
import torch

def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p has to be in (0, 1], not {p}")
    if p == 1:
        return torch.exp(logits - logits.logsumexp(-1, keepdim=True))
    log_probs = torch.log_softmax(logits, -1)
    ranked = log_probs.sort(-1, descending=True).values
    n = (ranked.exp().cumsum(-1) < p).sum(-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
    smallest = ranked.gather(-1, n).detach()
    return torch.where(log_probs >= smallest, logits, -torch.inf).softmax(-1)
