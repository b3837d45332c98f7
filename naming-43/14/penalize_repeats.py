# %% wrong: always_divides | Divides every logit that occurred by penalty, also the negative ones, which makes those tokens more probable.
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    seen = torch.zeros_like(logits, dtype=torch.bool)
    seen[ids] = True
    return torch.where(seen, logits / penalty, logits)

# %% wrong: once_per_occurrence | Applies the penalty again for every occurrence of a token instead of once.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty={penalty} has to be positive")
    rows = list(logits.unbind(0))
    for token in ids.tolist():
        if rows[token] > 0:
            rows[token] = rows[token] / penalty
        else:
            rows[token] = rows[token] * penalty
    return torch.stack(rows)

# %% wrong: subtracts_penalty | Subtracts the penalty from the logit (a presence penalty) instead of dividing or multiplying.
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be positive, not {penalty}")
    present = torch.zeros_like(logits)
    present[ids.unique()] = 1.0
    return logits - penalty * present

# %% wrong: signs_swapped | Multiplies positive logits and divides negative ones, which rewards repeats.
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    tokens = ids.unique()
    score = logits[tokens]
    score = torch.where(score > 0, score * penalty, score / penalty)
    return logits.scatter(0, tokens, score)

# %% wrong: changes_logits | Writes the penalised logits into the tensor that it was given.
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"`penalty` has to be a strictly positive float, but is {penalty}")
    with torch.no_grad():
        for token in set(ids.tolist()):
            if logits[token] > 0:
                logits[token] /= penalty
            else:
                logits[token] *= penalty
    return logits

# %% wrong: fails_without_ids | Fails when no token has been seen yet, because it asks for the largest of no ids.
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    if ids.max() >= len(logits):
        raise ValueError(f"ids must be below {len(logits)}, got {ids.max()}")
    seen = torch.isin(torch.arange(len(logits)), ids)
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)

# %% wrong: no_error | Does not check the penalty: 0 gives inf, and a negative one turns the signs round.
import torch

def penalize_repeats(logits, ids, penalty):
    tokens = torch.unique(ids)
    score = torch.gather(logits, 0, tokens)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(0, tokens, score)

# %% wrong: below_one_refused | Raises ValueError for a penalty below 1, which is allowed and rewards repeats.
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty < 1:
        raise ValueError(f"penalty must be at least 1, got {penalty}")
    out = logits.clone()
    tokens = torch.unique(ids)
    old = logits[tokens]
    out[tokens] = torch.where(old > 0, old / penalty, old * penalty)
    return out

# %% wrong: penalizes_the_others | Penalises the tokens that do not occur in ids instead of those that do.
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    mask = torch.ones(logits.shape, dtype=torch.bool, device=logits.device)
    mask[ids] = False
    changed = torch.where(logits > 0, logits / penalty, logits * penalty)
    return logits.masked_scatter(mask, changed[mask])

# %% wrong: detached | Works on a detached copy of the logits, so no gradient flows back to them.
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    new = logits.detach().clone()
    for t in ids.unique():
        new[t] = new[t] / penalty if new[t] > 0 else new[t] * penalty
    return new

# %% wrong: on_log_probabilities | Turns the logits into log-probabilities first, which are all negative, and scales those.
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    scores = torch.log_softmax(logits, -1)
    tokens = ids.unique()
    picked = scores[tokens]
    picked = torch.where(picked > 0, picked / penalty, picked * penalty)
    return scores.scatter(0, tokens, picked)

# %% wrong: position_for_token | Takes the positions 0, 1, 2 … of the context for token ids and penalises those logits.
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    factor = torch.ones_like(logits)
    for token, _ in enumerate(ids):
        if token < len(logits):
            factor[token] = 1 / penalty if logits[token] > 0 else penalty
    return logits * factor

# %% wrong: only_seen_twice | Penalises only tokens that occur at least twice, taking "repeat" for a repetition within ids.
from collections import Counter
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    repeated = [t for t, n in Counter(ids.tolist()).items() if n > 1]
    mask = torch.zeros(len(logits), dtype=torch.bool)
    mask[repeated] = True
    scaled = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(mask, scaled, logits)

# %% wrong: gradient_of_duplicates | Scatters one value per occurrence, as libraries do, so a token that occurs twice gets twice its gradient.
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"`penalty` has to be a strictly positive float, but is {penalty}")
    score = torch.gather(logits, 0, ids)
    # if score <= 0 then the token's probability is reduced by multiplying
    score = torch.where(score > 0, score / penalty, score * penalty)
    return logits.scatter(0, ids, score)

# %% wrong: last_token_only | Penalises only the last token of ids, not every token that occurs.
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    seen = F.one_hot(ids[-1:], len(logits)).sum(0).bool()
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)

# %% right: gather_scatter
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"`penalty` has to be a strictly positive float, but is {penalty}")
    ids = torch.tensor(sorted(set(ids.tolist())), dtype=torch.int64, device=ids.device)
    score = torch.gather(logits, 0, ids)
    score = torch.where(score > 0, score / penalty, score * penalty)
    return logits.scatter(0, ids, score)

# %% right: factor
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    seen = torch.zeros_like(logits, dtype=torch.bool)
    seen[ids] = True
    factor = torch.ones_like(logits)
    factor[seen & (logits > 0)] = 1 / penalty
    factor[seen & (logits <= 0)] = penalty
    return logits * factor

# %% right: loop
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty={penalty} has to be positive")
    seen = set(ids.tolist())
    rows = []
    for token, logit in enumerate(logits):
        if token not in seen:
            rows.append(logit)
        elif logit > 0:
            rows.append(logit / penalty)
        else:
            rows.append(logit * penalty)
    return torch.stack(rows)

# %% right: clone_unique
import torch

def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be positive, not {penalty}")
    out = logits.clone()
    tokens = torch.unique(ids)
    old = logits[tokens]
    out[tokens] = torch.where(old > 0, old / penalty, old * penalty)
    return out

# %% right: bincount
import torch

def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    seen = torch.bincount(ids, minlength=logits.shape[0]) > 0
    positive = seen & (logits > 0)
    negative = seen & ~(logits > 0)
    out = torch.where(positive, logits / penalty, logits)
    return torch.where(negative, logits * penalty, out)
