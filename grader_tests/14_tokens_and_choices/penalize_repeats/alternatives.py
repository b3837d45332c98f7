"""Right answers to `penalize_repeats` in other styles."""

import torch


# %% a_mask_of_what_has_occurred
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be positive, got {penalty}")
    occurs = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
    occurs[ids] = True
    lower = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(occurs, lower, logits)


# %% written_into_a_copy
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty = {penalty}")
    found = logits[ids]
    result = logits.clone()
    result[ids] = torch.where(found > 0, found / penalty, found * penalty)
    return result


# %% gathered_and_scattered
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError("penalty is %s" % penalty)
    score = torch.gather(logits, 0, ids)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(0, ids, score)


# %% token_by_token
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty: {penalty}")
    seen = set(ids.tolist())
    entries = []
    for token, logit in enumerate(logits):
        if token in seen:
            logit = logit / penalty if logit > 0 else logit * penalty
        entries.append(logit)
    return torch.stack(entries)


# %% counted
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty has to be above 0: {penalty}")
    often = torch.bincount(ids, minlength=logits.shape[0]).clamp(max=1).to(logits.dtype)
    return torch.where(logits > 0, logits * (1 / penalty) ** often, logits * penalty**often)


# %% unique_tokens_by_index_put
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty {penalty} is not above 0")
    tokens = ids.unique()
    positive = (logits[tokens] > 0).to(logits.dtype)
    factor = positive / penalty + (1 - positive) * penalty
    return logits.index_put((tokens,), logits[tokens] * factor)


# %% compared_with_every_token
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty={penalty} is not allowed")
    vocabulary = torch.arange(logits.numel(), device=logits.device)
    seen = torch.isin(vocabulary, ids)
    up, down = logits > 0, logits <= 0
    result = torch.where(seen & up, logits / penalty, logits)
    return torch.where(seen & down, logits * penalty, result)
