# %% right: bisection
def emitted_distribution(verify, draft, target):
    N = len(draft)
    rows = torch.stack([target, target])
    result = torch.zeros_like(draft)
    for token in range(N):
        if draft[token] == 0:
            continue
        def ask(u):
            return verify(torch.tensor([token], device=draft.device), draft[None].clone(), rows.clone(),
                          torch.tensor([u], dtype=draft.dtype, device=draft.device))
        low, high, other = 0.0, 1.0, None
        for _ in range(16):
            u = (low + high) / 2
            n, q = ask(u)
            if n == 1:
                low = u
            else:
                high, other = u, q
        accept = (low + high) / 2
        result[token] += draft[token] * accept
        if other is not None:
            result = result + draft[token] * (1 - accept) * other
    return result

# %% wrong: formula_not_verify | The probability of acceptance is computed as min(1, target / draft), instead of being found by asking verify.
def emitted_distribution(verify, draft, target):
    accept = torch.minimum(torch.ones_like(draft), target / draft.clamp(min=1e-12))
    out = draft * accept
    two = torch.stack([target, target])
    for d in range(len(draft)):
        if draft[d] > 0 and accept[d] < 1:
            u = torch.full((1,), (1 + accept[d].item()) / 2, dtype=draft.dtype)
            _, other = verify(torch.tensor([d]), draft[None], two, u)
            out = out + draft[d] * (1 - accept[d]) * other
    return out

# %% wrong: returns_target | The target is returned because theory says so; what this verify decides is never looked at.
def emitted_distribution(verify, draft, target):
    return target.clone()

# %% wrong: monte_carlo | The distribution is estimated from a few thousand random draws, which is not exact to 1e-3.
def emitted_distribution(verify, draft, target):
    trials = 2000
    counts = torch.zeros_like(draft)
    both = torch.stack([target, target])
    tokens = torch.multinomial(draft, trials, replacement=True)
    us = torch.rand(trials, dtype=draft.dtype)
    for d, u in zip(tokens, us):
        n, probs = verify(d[None], draft[None], both, u[None])
        if n == 1:
            counts[d] += 1
        else:
            counts += probs
    return counts / trials

# %% wrong: single_chance | Each token is tried at the one chance 0.5, as if it were then always accepted or always rejected.
def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    for d in range(draft.numel()):
        if draft[d] <= 0:
            continue
        n, probs = verify(torch.tensor([d]), draft.unsqueeze(0), torch.stack((target, target)), torch.tensor([0.5], dtype=draft.dtype))
        if n > 0:
            out[d] += draft[d]
        else:
            out += draft[d] * probs
    return out

# %% wrong: tokens_unweighted | The drafted tokens are averaged with equal weights instead of being weighted by the draft's probabilities.
def emitted_distribution(verify, draft, target):
    tokens = [d for d in range(len(draft)) if draft[d] > 0]
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    grid = (torch.arange(1000, dtype=draft.dtype) + 0.5) / 1000
    for d in tokens:
        for u in grid:
            n, probs = verify(torch.tensor([d]), draft[None], both, u[None])
            if n == 1:
                out[d] += 1 / 1000
            else:
                out += probs / 1000
    return out / len(tokens)

# %% right: grid_of_midpoints
def emitted_distribution(verify, draft, target):
    steps = 1500
    pair = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in torch.nonzero(draft).flatten():
        here = torch.zeros_like(draft)
        for k in range(steps):
            chance = draft.new_tensor([(k + 0.5) / steps])
            n, probs = verify(d.reshape(1), draft.reshape(1, -1), pair, chance)
            if n:
                here[d] += 1
            else:
                here += probs
        out += draft[d] * here / steps
    return out

# %% wrong: accepted_adds_next_distribution | After acceptance the distribution of the token that follows is added, instead of the drafted token, which is the first one emitted.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    total = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high = 0.0, 1.0
        yes, no = torch.zeros_like(draft), torch.zeros_like(draft)
        for _ in range(15):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
            if n == 1:
                low, yes = mid, probs
            else:
                high, no = mid, probs
        a = (low + high) / 2
        total += draft[d] * (a * yes + (1 - a) * no)
    return total

# %% wrong: rejections_forgotten | Only the accepted tokens are counted; what is emitted after a rejection is missing.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    accept = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high = 0.0, 1.0
        while high - low > 1e-5:
            mid = (low + high) / 2
            n, _ = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
            low, high = (mid, high) if n == 1 else (low, mid)
        accept[d] = low
    return draft * accept

# %% wrong: rejection_full_weight | The distribution after a rejection is added with the whole weight of the drafted token, not with the probability 1 - a of being rejected.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high, other = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(16):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
            if n == 1:
                low = mid
            else:
                high, other = mid, probs
        out[d] += draft[d] * low
        out += draft[d] * other
    return out

# %% wrong: coarse_grid | Ten chances per token locate the threshold to 0.1 only.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        for k in range(10):
            n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([(k + 0.5) / 10]))
            if n == 1:
                out[d] += draft[d] / 10
            else:
                out += draft[d] * probs / 10
    return out

# %% wrong: asks_impossible_tokens | verify is also asked about tokens that the draft never draws, and 0 times its NaN spoils the sum.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in range(draft.shape[0]):
        low, high, other = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(16):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
            if n == 1:
                low = mid
            else:
                high, other = mid, probs
        hot = F.one_hot(torch.tensor(d), len(draft)).to(draft.dtype)
        out = out + draft[d] * (low * hot + (1 - low) * other)
    return out

# %% right: vector_bisection
def emitted_distribution(verify, draft, target):
    N = draft.shape[0]
    uniform = torch.full_like(target, 1 / N)
    rows = torch.stack((target, uniform))
    support = [d for d in range(N) if draft[d] > 0]
    low = {d: 0.0 for d in support}
    replacement = {d: torch.zeros_like(draft) for d in support}
    step = 0.5
    for _ in range(14):
        for d in support:
            u = low[d] + step
            n, probs = verify(torch.tensor([d], device=draft.device), draft[None], rows, draft.new_tensor([u]))
            if int(n) >= 1:
                low[d] = u
            else:
                replacement[d] = probs
        step /= 2
    columns = torch.stack([draft[d] * (low[d] * F.one_hot(torch.tensor(d), N).to(draft) + (1 - low[d]) * replacement[d])
                           for d in support])
    return columns.sum(0)

# %% wrong: no_row_dimension | draft is passed as (N,), without the dimension of the drafted positions.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high, other = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(16):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft, both, draft.new_tensor([mid]))
            if n == 1:
                low = mid
            else:
                high, other = mid, probs
        out[d] += draft[d] * low
        out += draft[d] * (1 - low) * other
    return out

# %% wrong: one_target_row | target is passed with one row; the row for the case that all are accepted is missing.
def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high, other = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(16):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft[None], target[None], draft.new_tensor([mid]))
            if n == 1:
                low = mid
            else:
                high, other = mid, probs
        out[d] += draft[d] * low
        out += draft[d] * (1 - low) * other
    return out

# %% wrong: most_probable_draft_only | Only the draft's most probable token is followed, as if it were always the one drafted.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    d = int(draft.argmax())
    low, high, other = 0.0, 1.0, torch.zeros_like(draft)
    for _ in range(16):
        mid = (low + high) / 2
        n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
        if n == 1:
            low = mid
        else:
            high, other = mid, probs
    out = (1 - low) * other
    out[d] += low
    return out

# %% wrong: renormalized | The result is rescaled to sum to 1, which hides that this verify gives away too little or too much.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high, other = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(16):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
            if n == 1:
                low = mid
            else:
                high, other = mid, probs
        out[d] += draft[d] * low
        out += draft[d] * (1 - low) * other
    return out / out.sum()

# %% right: exact_expectation_with_helper
class Probe:
    def __init__(self, verify, draft, target):
        self.verify, self.draft, self.target = verify, draft, torch.stack([target, draft])

    def __call__(self, token, chance):
        n, rest = self.verify(
            drafted=torch.tensor([token], device=self.draft.device),
            draft=self.draft.unsqueeze(0), target=self.target,
            chances=torch.tensor([chance], dtype=self.draft.dtype, device=self.draft.device))
        return n == 1, rest

    def threshold(self, token, a=0.0, b=1.0, depth=15):
        if depth == 0:
            return (a + b) / 2
        m = (a + b) / 2
        return self.threshold(token, m, b, depth - 1) if self(token, m)[0] else self.threshold(token, a, m, depth - 1)

def emitted_distribution(verify, draft, target):
    probe = Probe(lambda drafted, draft, target, chances: verify(drafted, draft, target, chances), draft, target)
    out = torch.zeros_like(draft)
    for token, q in enumerate(draft.tolist()):
        if q == 0:
            continue
        a = probe.threshold(token)
        out[token] += q * a
        rejected, rest = probe(token, min(a + 1e-4, 1 - 1e-6))
        if not rejected:
            out += q * (1 - a) * rest
    return out

# %% wrong: weights_from_target | The drafted tokens are weighted by the target's probabilities, though they are drawn from the draft.
def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(draft)
    for d in range(len(draft)):
        if draft[d] == 0:
            continue
        low, high, other = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(16):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([d]), draft[None], both, draft.new_tensor([mid]))
            if n == 1:
                low = mid
            else:
                high, other = mid, probs
        out[d] += target[d] * low
        out += target[d] * (1 - low) * other
    return out

# %% right: matrix_of_outcomes
def emitted_distribution(verify, draft, target):
    N = draft.numel()
    transition = torch.zeros(N, N, dtype=draft.dtype, device=draft.device)   # row: drafted, column: emitted
    eye = torch.eye(N, dtype=draft.dtype, device=draft.device)
    rows = torch.stack([target, target])
    for d in range(N):
        if draft[d] > 0:
            lo, hi = 0, 1 << 13                     # threshold in steps of 1 / 8192
            rest = torch.zeros_like(draft)
            while lo < hi:
                k = (lo + hi) // 2
                n, p = verify(torch.tensor([d]), draft.view(1, N), rows, draft.new_tensor([(k + 0.5) / 8192]))
                if n == 0:
                    hi, rest = k, p
                else:
                    lo = k + 1
            a = lo / 8192
            transition[d] = a * eye[d] + (1 - a) * rest
    return draft @ transition
