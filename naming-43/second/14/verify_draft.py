# %% right: loop
def verify_draft(drafted, draft, target, chances):
    for i in range(len(drafted)):
        t = drafted[i]
        if not chances[i] < target[i, t] / draft[i, t]:
            rest = (target[i] - draft[i]).clamp(min=0)
            return i, rest / rest.sum()
    return len(drafted), target[len(drafted)].clone()

# %% wrong: ratio_inverted | The ratio is upside down: draft over target.
def verify_draft(drafted, draft, target, chances):
    M = drafted.numel()
    n = 0
    while n < M and chances[n] < draft[n, drafted[n]] / target[n, drafted[n]]:
        n += 1
    if n == M:
        return M, target[M]
    rest = torch.relu(target[n] - draft[n])
    return n, rest / rest.sum()

# %% wrong: counts_after_rejection | All passing tokens are counted, also those behind a rejected one.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    rows = torch.arange(M)
    accepted = chances < target[rows, drafted] / draft[rows, drafted]
    n = int(accepted.sum())
    if n == M:
        return n, target[M]
    residual = (target[n] - draft[n]).clamp_min(0)
    return n, residual / residual.sum()

# %% wrong: absolute_difference | The absolute difference is taken instead of the positive part, so that tokens with too much draft probability come back.
def verify_draft(drafted, draft, target, chances):
    for i, token in enumerate(drafted.tolist()):
        if chances[i] >= target[i][token] / draft[i][token]:
            lack = torch.abs(target[i] - draft[i])
            return i, lack / lack.sum()
    return len(drafted), target[-1]

# %% wrong: not_rescaled | The positive part of the difference is not divided by its sum.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        j = int(drafted[i])
        if chances[i] >= target[i, j] / draft[i, j]:
            return i, torch.clamp(target[i] - draft[i], min=0.0)
    return M, target[M]

# %% right: cumprod
def verify_draft(drafted, draft, target, chances):
    M = drafted.shape[0]
    p = target[:M].gather(1, drafted[:, None]).squeeze(1)
    q = draft.gather(1, drafted[:, None]).squeeze(1)
    n = int((chances < p / q).long().cumprod(0).sum())
    padded = torch.cat([draft, torch.zeros_like(draft[:1])])
    rest = F.relu(target[n] - padded[n])
    return n, rest / rest.sum()

# %% wrong: target_after_rejection | After a rejection the target's own distribution is returned, not what the draft lacks of it.
def verify_draft(drafted, draft, target, chances):
    n = 0
    for token, q, p, u in zip(drafted, draft, target, chances):
        if u < p[token] / q[token]:
            n += 1
        else:
            break
    return n, target[n]

# %% wrong: last_row_wrong | After full acceptance, the row M - 1 of the target is returned, not its extra row M.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if chances[i] >= target[i, drafted[i]] / draft[i, drafted[i]]:
            r = (target[i] - draft[i]).clamp(min=0)
            return i, r / r.sum()
    return M, target[M - 1]

# %% wrong: tensor_count | n_accepted is a tensor, not an int.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    idx = torch.arange(M)
    ok = chances < target[idx, drafted] / draft[idx, drafted]
    n = torch.cumprod(ok.int(), dim=0).sum()
    if n == M:
        return n, target[M]
    r = F.relu(target[n] - draft[n])
    return n, r / r.sum()

# %% wrong: counts_the_extra_token | The token to be drawn next is counted as accepted: n_accepted is one too high.
def verify_draft(drafted, draft, target, chances):
    emitted = 0
    for i in range(len(drafted)):
        emitted += 1
        if chances[i] >= target[i, drafted[i]] / draft[i, drafted[i]]:
            rest = torch.maximum(target[i] - draft[i], torch.zeros_like(draft[i]))
            return emitted, rest / rest.sum()
    return emitted + 1, target[len(drafted)]

# %% right: argmax_of_rejections
def verify_draft(drafted, draft, target, chances):
    M, N = draft.shape
    own = F.one_hot(drafted, N).to(draft.dtype)
    ratio = torch.einsum("mn,mn->m", own, target[:M]) / torch.einsum("mn,mn->m", own, draft)
    rejected = torch.nonzero(chances >= ratio).flatten()
    if rejected.numel() == 0:
        return M, target[M]
    first = rejected[0].item()
    lack = torch.where(target[first] > draft[first], target[first] - draft[first], torch.zeros_like(draft[first]))
    return first, lack / lack.sum()

# %% wrong: difference_reversed | The difference is draft minus target: what the draft has too much of, not what it lacks.
def verify_draft(drafted, draft, target, chances):
    def residual(p, q):
        r = (q - p).clamp(min=0)
        return r / r.sum()
    for i in range(len(drafted)):
        if chances[i] >= target[i, drafted[i]] / draft[i, drafted[i]]:
            return i, residual(target[i], draft[i])
    return len(drafted), target[len(drafted)]

# %% wrong: target_probability_alone | A token is accepted with the target's probability itself, which is not divided by the draft's.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if not chances[i] < target[i, drafted[i]]:
            rest = (target[i] - draft[i]).clamp(min=0)
            return i, rest / rest.sum()
    return M, target[M]

# %% wrong: softmax_of_residual | The residual is rescaled by a softmax, which gives every token some probability.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if not chances[i] < target[i, drafted[i]] / draft[i, drafted[i]]:
            return i, torch.softmax(F.relu(target[i] - draft[i]), dim=-1)
    return M, target[M]

# %% wrong: draws_the_token | A token is drawn from the probabilities and returned, instead of the probabilities.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    n, probs = M, target[M]
    for i in range(M):
        if not chances[i] < target[i, drafted[i]] / draft[i, drafted[i]]:
            probs = F.relu(target[i] - draft[i])
            probs = probs / probs.sum()
            n = i
            break
    return n, torch.multinomial(probs, 1)

# %% right: log_space_and_recursion
def _residual(p, q):
    r = torch.stack([p - q, torch.zeros_like(p)]).amax(0)
    return r.div(r.sum())

def _from(i, drafted, draft, target, chances):
    if i == drafted.numel():
        return i, target[i]
    k = drafted[i].item()
    if chances[i].item() * draft[i, k].item() < target[i, k].item():
        return _from(i + 1, drafted, draft, target, chances)
    return i, _residual(target[i], draft[i])

def verify_draft(drafted, draft, target, chances):
    return _from(0, drafted, draft, target, chances)

# %% wrong: greedy_match | A token is accepted if it is the target's most probable one (greedy verification); chances and ratio play no part.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if target[i].argmax() != drafted[i]:
            rest = (target[i] - draft[i]).clamp(min=0)
            return i, rest / rest.sum()
    return M, target[M]

# %% wrong: in_place_residual | The residual is computed in place, in the target that the caller passed.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if not chances[i] < target[i, drafted[i]] / draft[i, drafted[i]]:
            rest = target[i]
            rest.sub_(draft[i]).clamp_(min=0)
            rest /= rest.sum()
            return i, rest
    return M, target[M]

# %% wrong: last_drafted_unchecked | The loop ends before the last drafted token, which is accepted without a check.
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M - 1):
        k = drafted[i]
        if chances[i] >= target[i, k] / draft[i, k]:
            rest = (target[i] - draft[i]).clamp(min=0)
            return i, rest / rest.sum()
    return M, target[M]

# %% right: class_with_lists
class Verifier:
    def __init__(self, draft, target):
        self.q, self.p = draft, target

    def accepts(self, i, token, u):
        return bool(u < self.p[i][token] / self.q[i][token])

    def leftover(self, i):
        left = [max(0.0, a - b) for a, b in zip(self.p[i].tolist(), self.q[i].tolist())]
        total = sum(left)
        return self.p.new_tensor([x / total for x in left])

def verify_draft(drafted, draft, target, chances):
    v = Verifier(draft, target)
    n = 0
    for i, token in enumerate(drafted):
        if not v.accepts(i, token, chances[i]):
            return n, v.leftover(i)
        n += 1
    return n, target[n]
