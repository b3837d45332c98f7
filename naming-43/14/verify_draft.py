# %% wrong: accepts_equality | Accepts also when the chance equals the ratio (<= instead of <), so a token that the target never says is accepted at chance 0.
import torch

def verify_draft(drafted, draft, target, chances):
    for i, token in enumerate(drafted.tolist()):
        ratio = target[i, token] / draft[i, token]
        if not chances[i] <= ratio:
            left = torch.clamp(target[i] - draft[i], min=0)
            return i, left / left.sum()
    return len(drafted), target[-1]

# %% wrong: counts_all_that_pass | Counts every token that passes its own test, also those after the first rejected one.
import torch

def verify_draft(drafted, draft, target, chances):
    M = drafted.shape[0]
    rows = torch.arange(M)
    ok = chances < target[rows, drafted] / draft[rows, drafted]
    n = int(ok.sum())
    if n == M:
        return n, target[M]
    first = int((~ok).nonzero()[0])
    rest = (target[first] - draft[first]).clamp(min=0)
    return n, rest / rest.sum()

# %% wrong: residual_not_clamped | Does not cut the negative differences off at 0, so it divides by a sum of about 0.
import torch

def verify_draft(drafted, draft, target, chances):
    n_accepted = 0
    for i in range(len(drafted)):
        t = drafted[i]
        if chances[i] < target[i, t] / draft[i, t]:
            n_accepted += 1
        else:
            difference = target[i] - draft[i]
            return n_accepted, difference / difference.sum()
    return n_accepted, target[len(drafted)]

# %% wrong: residual_not_rescaled | Does not divide what the draft lacks by its sum, so the probabilities sum to less than 1.
import torch

def verify_draft(drafted, draft, target, chances):
    i = 0
    while i < len(drafted):
        token = drafted[i].item()
        if chances[i] >= target[i][token] / draft[i][token]:
            return i, torch.relu(target[i] - draft[i])
        i += 1
    return i, target[i]

# %% wrong: residual_swapped | Takes what the draft has too much, draft - target, instead of what it lacks.
import torch

def verify_draft(drafted, draft, target, chances):
    p = target[:-1].gather(1, drafted[:, None])[:, 0]
    q = draft.gather(1, drafted[:, None])[:, 0]
    accepted = (chances < p / q).long().cumprod(0)
    n = int(accepted.sum())
    if n == len(drafted):
        return n, target[n]
    residual = F.relu(draft[n] - target[n])
    return n, residual / residual.sum()

# %% wrong: target_after_rejection | Draws from the target itself after a rejection instead of from what the draft lacks.
import torch

def verify_draft(drafted, draft, target, chances):
    n = 0
    for token, q, p, u in zip(drafted, draft, target, chances):
        if u < p[token] / q[token]:
            n += 1
        else:
            break
    return n, target[n]

# %% wrong: wrong_row_at_the_end | Returns the row of the last drafted token, target[M - 1], when all are accepted, not target[M].
import torch

def verify_draft(drafted, draft, target, chances):
    M, N = draft.shape
    for i in range(M):
        d = int(drafted[i])
        if chances[i] < target[i, d] / draft[i, d]:
            continue
        lack = torch.where(target[i] > draft[i], target[i] - draft[i], torch.zeros_like(draft[i]))
        return i, lack / lack.sum()
    return M, target[M - 1]

# %% wrong: count_is_a_tensor | Returns the number of accepted tokens as a tensor and not as an int.
import torch

def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    r = torch.arange(M)
    passed = chances < target[:M][r, drafted] / draft[r, drafted]
    n_accepted = torch.cumprod(passed.int(), dim=0).sum()
    if n_accepted == M:
        return n_accepted, target[M]
    rest = torch.clamp_min(target[n_accepted] - draft[n_accepted], 0)
    return n_accepted, rest / rest.sum()

# %% wrong: ratio_upside_down | Divides the draft's probability by the target's, so it accepts most easily what the target finds improbable.
import torch

def verify_draft(drafted, draft, target, chances):
    for i in range(drafted.numel()):
        x = drafted[i]
        ratio = draft[i, x] / target[i, x]
        if chances[i] >= ratio:
            res = (target[i] - draft[i]).clamp(min=0.0)
            return i, res / res.sum()
    return drafted.numel(), target[-1]

# %% wrong: residual_one_row_late | Takes the rows after the rejected position for the residual, i + 1 instead of i.
import torch

def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if not chances[i] < target[i, drafted[i]] / draft[i, drafted[i]]:
            j = min(i + 1, M - 1)
            lack = torch.relu(target[j] - draft[j])
            return i, lack / lack.sum()
    return M, target[M]

# %% wrong: chance_against_target | Compares the chance with the target's probability alone and forgets to divide by the draft's.
import torch

def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    probability = target[torch.arange(M), drafted]
    n = 0
    while n < M and chances[n] < probability[n]:
        n += 1
    if n < M:
        lack = (target[n] - draft[n]).clamp(min=0)
        return n, lack / lack.sum()
    return n, target[n]

# %% wrong: greedy_match | Accepts a token only if it is the target's most probable one, and ignores the chances.
import torch

def verify_draft(drafted, draft, target, chances):
    best = target.argmax(-1)
    for i, token in enumerate(drafted):
        if token != best[i]:
            leftover = torch.maximum(target[i] - draft[i], torch.zeros_like(target[i]))
            return i, leftover / leftover.sum()
    return len(drafted), target[len(drafted)]

# %% wrong: detached | Computes the probabilities from detached tensors, so they cannot be differentiated.
import torch

def verify_draft(drafted, draft, target, chances):
    q, p = draft.detach(), target.detach()
    for i, token in enumerate(drafted.tolist()):
        if chances[i] >= p[i, token] / q[i, token]:
            lack = (p[i] - q[i]).clamp(min=0)
            return i, lack / lack.sum()
    return len(drafted), p[len(drafted)]

# %% wrong: changes_target | Subtracts the draft from the given target in place.
import torch

def verify_draft(drafted, draft, target, chances):
    for i in range(len(drafted)):
        token = drafted[i]
        if chances[i] < target[i, token] / draft[i, token]:
            continue
        with torch.no_grad():
            target[i] -= draft[i]
            target[i].clamp_(min=0)
        return i, target[i] / target[i].sum()
    return len(drafted), target[-1]

# %% wrong: only_rejected_token_removed | Only takes the rejected token out of the target's distribution instead of subtracting the draft everywhere.
import torch

def verify_draft(drafted, draft, target, chances):
    for i, token in enumerate(drafted.tolist()):
        if chances[i] >= target[i, token] / draft[i, token]:
            others = torch.ones_like(target[i])
            others[token] = 0
            rest = target[i] * others
            return i, rest / rest.sum()
    return len(drafted), target[len(drafted)]

# %% right: loop
import torch

def verify_draft(drafted, draft, target, chances):
    for i, token in enumerate(drafted.tolist()):
        if not chances[i] < target[i, token] / draft[i, token]:
            left = torch.clamp(target[i] - draft[i], min=0)
            return i, left / left.sum()
    return len(drafted), target[-1]

# %% right: cumprod
import torch

def verify_draft(drafted, draft, target, chances):
    p = target[:-1].gather(1, drafted[:, None])[:, 0]
    q = draft.gather(1, drafted[:, None])[:, 0]
    n = int((chances < p / q).long().cumprod(0).sum())
    if n == len(drafted):
        return n, target[n]
    residual = F.relu(target[n] - draft[n])
    return n, residual / residual.sum()

# %% right: first_rejected
import torch

def verify_draft(drafted, draft, target, chances):
    M = drafted.shape[0]
    rows = torch.arange(M, device=drafted.device)
    rejected = chances >= target[rows, drafted] / draft[rows, drafted]
    if not rejected.any():
        return M, target[M].clone()
    i = int(rejected.nonzero()[0, 0])
    gap = target[i] - draft[i]
    lack = torch.where(gap > 0, gap, torch.zeros_like(gap))
    return i, lack / torch.sum(lack)

# %% right: padded_draft
import torch

def verify_draft(drafted, draft, target, chances):
    M, N = draft.shape
    n = 0
    while n < M and (chances[n] < target[n, drafted[n]] / draft[n, drafted[n]]).item():
        n += 1
    padded = torch.cat([draft, draft.new_zeros(1, N)])     # after the last one the draft has nothing
    lack = (target[n] - padded[n]).clamp(min=0)
    return n, (lack / lack.sum() if n < M else target[n])

# %% right: zip_rows
import torch

class Rejected(Exception):
    pass

def verify_draft(drafted, draft, target, chances):
    n = 0
    try:
        for token, q, p, u in zip(drafted, draft, target, chances):
            if u >= p[token] / q[token]:
                raise Rejected
            n += 1
    except Rejected:
        lack = torch.maximum(p - q, torch.zeros_like(p))
        return n, torch.div(lack, lack.sum())
    return n, target[n]
