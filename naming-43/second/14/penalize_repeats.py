# %% right: where_isin
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be positive, got {penalty}")
    seen = torch.isin(torch.arange(logits.shape[0], device=logits.device), ids)
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)

# %% wrong: always_divides | Every repeated logit is divided, so that a negative one becomes more likely instead of less.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, not {penalty}")
    out = logits.clone()
    unique = torch.unique(ids)
    out[unique] = out[unique] / penalty
    return out

# %% wrong: loop_compounds | A token that occurs several times is penalized once for every occurrence.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    scores = list(logits.unbind(0))
    for token in ids.tolist():
        if scores[token] > 0:
            scores[token] = scores[token] / penalty
        else:
            scores[token] = scores[token] * penalty
    return torch.stack(scores)

# %% right: hf_gather_scatter
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError("`penalty` has to be a strictly positive float, but is %r" % (penalty,))
    ids = ids.unique()
    score = torch.gather(logits, 0, ids)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(0, ids, score)

# %% wrong: sign_swapped | Positive logits are multiplied and the others divided: the repeats become more likely.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty = {penalty} must be positive")
    ids = torch.unique(ids)
    score = logits.gather(0, ids)
    score = torch.where(score > 0, score * penalty, score / penalty)
    return logits.scatter(0, ids, score)

# %% wrong: changes_argument | The penalized values are written into the logits that the caller passed.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty: {penalty}")
    ids = ids.unique()
    score = logits[ids]
    logits[ids] = torch.where(score > 0, score / penalty, score * penalty)
    return logits

# %% wrong: presence_subtract | The penalty is subtracted (a presence penalty) instead of being a factor.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    presence = torch.zeros_like(logits)
    presence[ids] = 1.0
    return logits - penalty * presence

# %% wrong: on_log_probabilities | The logits are turned into log-probabilities first, which are all negative, so that every repeat is multiplied.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    logp = torch.log_softmax(logits, dim=-1)
    ids = torch.unique(ids)
    score = logp[ids]
    score = torch.where(score > 0, score / penalty, score * penalty)
    return logp.scatter(-1, ids, score)

# %% wrong: mask_by_product | Choosing by multiplication with 0 and 1 turns a logit of -inf into NaN.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    hit = torch.zeros_like(logits)
    hit[ids] = 1
    changed = torch.where(logits > 0, logits / penalty, logits * penalty)
    return hit * changed + (1 - hit) * logits

# %% right: factor_vector
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty={penalty} is not positive")
    present = torch.bincount(ids, minlength=logits.numel()) > 0
    factor = torch.ones_like(logits)
    factor[present & (logits > 0)] = 1 / penalty
    factor[present & (logits <= 0)] = penalty
    return logits * factor

# %% wrong: zero_penalty_passes | Only a negative penalty raises ValueError; the penalty 0 is let through.
def penalize_repeats(logits, ids, penalty):
    if penalty < 0:
        raise ValueError(f"penalty must not be negative, got {penalty}")
    out = logits.clone()
    for t in set(ids.tolist()):
        out[t] = logits[t] * penalty if logits[t] <= 0 else logits[t] / penalty
    return out

# %% wrong: demands_at_least_one | A penalty between 0 and 1 is refused, though it is allowed (it rewards repeats).
def penalize_repeats(logits, ids, penalty):
    if penalty < 1:
        raise ValueError(f"penalty must be at least 1, got {penalty}")
    index = ids.unique()
    picked = logits[index]
    picked = torch.where(picked > 0, picked / penalty, picked * penalty)
    return logits.index_copy(0, index, picked)

# %% wrong: one_hot_amax_empty | With no ids at all, the maximum over an empty dimension raises.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    N = logits.shape[-1]
    hot = F.one_hot(ids, num_classes=N)          # (T, N)
    seen = hot.amax(dim=0).bool()
    alt = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, alt, logits)

# %% wrong: single_sign_for_all | One test of the sign (are all repeated logits positive?) decides for all of them together.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    u = torch.unique(ids)
    out = logits.clone()
    if (logits[u] > 0).all():
        out[u] = logits[u] / penalty
    else:
        out[u] = logits[u] * penalty
    return out

# %% right: plain_loop_stack
def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError("penalty must be greater than zero: " + repr(penalty))
    already = set(int(i) for i in ids)
    out = []
    for n, value in enumerate(logits):
        if n not in already:
            out.append(value)
        elif float(value.detach()) > 0:
            out.append(value / penalty)
        else:
            out.append(value * penalty)
    return torch.stack(out)

# %% wrong: complement | The tokens that do not occur in ids are penalized, and the repeats are left alone.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    mask = torch.ones(len(logits), dtype=torch.bool, device=logits.device)
    mask[ids] = False
    worse = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(mask, worse, logits)

# %% wrong: assert_not_value_error | A bad penalty raises AssertionError by an assert, not ValueError.
def penalize_repeats(logits, ids, penalty):
    assert penalty > 0, f"penalty must be > 0, got {penalty}"
    out = logits.clone()
    u = ids.unique()
    out[u] = torch.where(logits[u] > 0, logits[u] / penalty, logits[u] * penalty)
    return out

# %% wrong: returns_only_penalized | The result has only the penalized logits of the ids, (T,), not all N logits.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    score = torch.index_select(logits, 0, ids)
    return torch.where(score > 0, score / penalty, score * penalty)

# %% wrong: duplicates_scattered | Repeated ids are scattered as they are, so that the gradient of a token counts once for each occurrence, though the value is right.
def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty has to be positive, but is {penalty}")
    score = torch.gather(logits, 0, ids)
    score = torch.where(score < 0, score * penalty, score / penalty)
    return logits.scatter(0, ids, score)

# %% right: broadcast_compare
class Penalty:
    def __init__(self, strength):
        if not strength > 0:
            raise ValueError(f"penalty has to be > 0 (is {strength})")
        self.strength = strength

    def __call__(self, logits, ids):
        seen = (ids[:, None] == torch.arange(logits.size(0), device=ids.device)).any(0)
        weaker = F.relu(logits) / self.strength - F.relu(-logits) * self.strength
        return logits.masked_scatter(seen, weaker[seen])

def penalize_repeats(logits, ids, penalty):
    return Penalty(penalty)(logits, ids)
