# %% wrong: returns_target | Returns target, what a right verify would give, without asking verify.
def emitted_distribution(verify, draft, target):
    # speculative decoding emits exactly the target's distribution
    return target.clone()

# %% wrong: acceptance_from_theory | Takes min(1, target / draft) for the probability of acceptance instead of finding out what verify accepts.
import torch

def emitted_distribution(verify, draft, target):
    rows = torch.stack([target, target])
    result = torch.zeros_like(target)
    for token in range(len(draft)):
        if draft[token] == 0:
            continue
        accept = min(1.0, float(target[token] / draft[token]))
        result[token] += draft[token] * accept
        if accept < 1:
            chance = torch.tensor([(1 + accept) / 2], dtype=draft.dtype)
            n, other = verify(torch.tensor([token]), draft[None], rows, chance)
            if n == 0:
                result += draft[token] * (1 - accept) * other
    return result

# %% wrong: samples | Estimates the distribution from a few thousand random draws, which is not exact to 1e-3.
import torch

def emitted_distribution(verify, draft, target):
    generator = torch.Generator().manual_seed(0)
    both = torch.stack([target, target])
    counts = torch.zeros_like(target)
    trials = 2000
    for _ in range(trials):
        token = torch.multinomial(draft, 1, generator=generator)
        chance = torch.rand(1, generator=generator, dtype=draft.dtype)
        n, probs = verify(token, draft[None], both, chance)
        if n == 1:
            counts[token] += 1
        else:
            counts[torch.multinomial(probs, 1, generator=generator)] += 1
    return counts / trials

# %% wrong: coarse_grid | Tries only ten chances for each token, so the probability of acceptance is off by up to 0.05.
import torch

def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(target)
    tgt = torch.stack((target, target))
    grid = (torch.arange(10, dtype=draft.dtype) + 0.5) / 10
    for x in range(draft.shape[0]):
        if draft[x] <= 0:
            continue
        for u in grid:
            n, probs = verify(torch.tensor([x]), draft.unsqueeze(0), tgt, u.reshape(1))
            if n >= 1:
                out[x] += draft[x] / 10
            else:
                out += draft[x] * probs / 10
    return out

# %% wrong: one_chance | Asks verify only once for each token, at chance 0.5, and takes the token for always accepted or never.
import torch

def emitted_distribution(verify, draft, target):
    pair = torch.stack([target, target])
    total = torch.zeros_like(draft)
    for token in range(len(draft)):
        if draft[token] == 0:
            continue
        n, q = verify(torch.tensor([token]), draft[None, :], pair, torch.full((1,), 0.5, dtype=draft.dtype))
        if n == 1:
            total[token] = total[token] + draft[token]
        else:
            total = total + draft[token] * q
    return total

# %% wrong: draft_weight_missing | Gives every drafted token the same weight 1 / N instead of its probability under draft.
import torch

def emitted_distribution(verify, draft, target):
    N = len(draft)
    two = torch.stack([target, target])
    out = torch.zeros(N, dtype=draft.dtype)
    for token in range(N):
        if draft[token] == 0:
            continue
        lo, hi, rest = 0.0, 1.0, torch.zeros_like(draft)
        for _ in range(20):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], two, torch.tensor([mid], dtype=draft.dtype))
            if n:
                lo = mid
            else:
                hi, rest = mid, probs
        out[token] += lo / N
        out = out + (1 - lo) * rest / N
    return out

# %% wrong: only_accepted | Counts only accepted tokens and forgets those that are drawn after a rejection, so the sum is below 1.
import torch

def threshold(accepts, steps=16):
    lo, hi = 0.0, 1.0
    for _ in range(steps):
        mid = 0.5 * (lo + hi)
        if accepts(mid):
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2

def emitted_distribution(verify, draft, target):
    tt = torch.stack([target, target])
    probs = []
    for i, q in enumerate(draft):
        if q == 0:
            probs.append(q)
            continue
        def accepts(u):
            return verify(torch.tensor([i]), draft[None], tt, torch.tensor([u], dtype=draft.dtype))[0] == 1
        probs.append(q * threshold(accepts))
    return torch.stack(probs)

# %% wrong: only_rejected | Counts only the tokens drawn after a rejection and forgets the accepted ones.
import torch

def emitted_distribution(verify, draft, target):
    targets = torch.stack([target, target])
    result = torch.zeros_like(target)
    for token, q in enumerate(draft.tolist()):
        if q == 0:
            continue
        low, high, other = 0.0, 1.0, None
        for _ in range(15):
            mid = (low + high) / 2
            n, probs = verify(torch.tensor([token]), draft.unsqueeze(0), targets, draft.new_tensor([mid]))
            if n == 0:
                high, other = mid, probs
            else:
                low = mid
        if other is not None:
            result = result + q * (1 - low) * other
    return result

# %% wrong: accept_and_reject_swapped | Weights the drafted token with the probability of rejection and the other distribution with that of acceptance.
import torch

def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    t2 = target.expand(2, -1)
    for d in torch.nonzero(draft).flatten():
        a, b = 0.0, 1.0
        residual = torch.zeros_like(draft)
        for _ in range(14):
            c = (a + b) / 2
            n, probs = verify(d.view(1), draft[None], t2, torch.tensor([c], dtype=draft.dtype))
            if n == 1:
                a = c
            else:
                b = c
                residual = probs
        rejected = a
        accepted = 1 - a
        out[d] += draft[d] * accepted
        out += draft[d] * rejected * residual
    return out

# %% wrong: target_one_row | Gives verify only one row of target, so that verify has no row to return when the token is accepted.
import torch

def emitted_distribution(verify, draft, target):
    result = torch.zeros_like(target)
    for token in range(target.numel()):
        if draft[token] == 0:
            continue
        lo, hi, rest = 0.0, 1.0, torch.zeros_like(target)
        for _ in range(16):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], target[None], torch.tensor([mid]).to(draft))
            if n == 1:
                lo = mid
            else:
                hi, rest = mid, probs
        result[token] += draft[token] * lo
        result += draft[token] * (1 - lo) * rest
    return result

# %% wrong: second_token_after_acceptance | Adds the probabilities that verify returns also when the token was accepted, though these belong to the second token.
import torch

def emitted_distribution(verify, draft, target):
    uniform = torch.full_like(target, 1 / len(target))
    tt = torch.stack([target, uniform])
    out = torch.zeros_like(target)
    for token in range(len(draft)):
        q = draft[token]
        if q == 0:
            continue
        lo, hi = 0.0, 1.0
        yes = no = torch.zeros_like(target)
        for _ in range(16):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], tt, torch.tensor([mid], dtype=draft.dtype))
            if n == 1:
                lo, yes = mid, probs
            else:
                hi, no = mid, probs
        out = out + q * (lo * yes + (1 - lo) * no)
    return out

# %% wrong: asks_for_impossible_tokens | Asks verify also for tokens that the draft never draws, which it need not answer: it divides by 0, and 0 times NaN is NaN.
import torch

def emitted_distribution(verify, draft, target):
    tt = torch.stack([target, target])
    out = torch.zeros_like(target)
    for token in range(len(draft)):
        lo, hi, other = 0.0, 1.0, torch.zeros_like(target)
        for _ in range(16):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], tt, torch.tensor([mid], dtype=draft.dtype))
            if n == 1:
                lo = mid
            else:
                hi, other = mid, probs
        out[token] += draft[token] * lo
        out = out + draft[token] * (1 - lo) * other
    return out

# %% wrong: residual_from_theory | Computes the distribution after a rejection itself instead of taking the one that verify returns.
import torch

def emitted_distribution(verify, draft, target):
    lack = (target - draft).clamp(min=0)
    residual = lack / lack.sum().clamp(min=1e-12)
    tt = torch.stack([target, target])
    accepted = []
    for token in range(len(draft)):
        lo, hi = 0.0, 1.0
        for _ in range(16 if draft[token] > 0 else 0):
            mid = (lo + hi) / 2
            n, _probs = verify(torch.tensor([token]), draft[None], tt, torch.tensor([mid], dtype=draft.dtype))
            lo, hi = (mid, hi) if n == 1 else (lo, mid)
        accepted.append(lo)
    mass = draft * torch.tensor(accepted, dtype=draft.dtype)
    return mass + (1 - mass.sum()) * residual

# %% wrong: wrong_dtype | Collects the result in a float32 tensor whatever dtype the distributions have.
import torch

def emitted_distribution(verify, draft, target):
    tt = torch.stack([target, target])
    out = torch.zeros(len(draft), dtype=torch.float32)
    for token in range(len(draft)):
        if draft[token] == 0:
            continue
        lo, hi, other = 0.0, 1.0, torch.zeros(len(draft))
        for _ in range(16):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], tt, draft.new_tensor([mid]))
            if n == 1:
                lo = mid
            else:
                hi, other = mid, probs
        out[token] += float(draft[token]) * lo
        out += (float(draft[token]) * (1 - lo) * other).float()
    return out

# %% wrong: few_halvings | Halves the interval of the threshold only five times, so the result is not exact to 1e-3.
import torch

def emitted_distribution(verify, draft, target):
    tt = torch.stack([target, target])
    out = torch.zeros_like(target)
    for token in range(len(draft)):
        if draft[token] == 0:
            continue
        lo, hi, other = 0.0, 1.0, torch.zeros_like(target)
        for _ in range(5):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], tt, torch.tensor([mid], dtype=draft.dtype))
            if n == 1:
                lo = mid
            else:
                hi, other = mid, probs
        out[token] += draft[token] * lo
        out = out + draft[token] * (1 - lo) * other
    return out

# %% right: bisection
import torch

def emitted_distribution(verify, draft, target):
    tt = torch.stack([target, target])
    out = torch.zeros_like(target)
    for token in range(len(draft)):
        if draft[token] == 0:
            continue
        lo, hi, other = 0.0, 1.0, torch.zeros_like(target)
        for _ in range(20):
            mid = (lo + hi) / 2
            n, probs = verify(torch.tensor([token]), draft[None], tt, torch.tensor([mid], dtype=draft.dtype))
            if n == 1:
                lo = mid
            else:
                hi, other = mid, probs
        onehot = torch.zeros_like(target)
        onehot[token] = 1
        out = out + draft[token] * (lo * onehot + (1 - lo) * other)
    return out

# %% right: fine_grid
import torch

def emitted_distribution(verify, draft, target):
    steps = 1000
    tt = torch.stack((target, target))
    rows = []
    for x in range(draft.shape[0]):
        row = torch.zeros_like(target)
        if draft[x] > 0:
            for k in range(steps):
                u = torch.tensor([(k + 0.5) / steps], dtype=draft.dtype)
                n, probs = verify(torch.tensor([x]), draft.unsqueeze(0), tt, u)
                if n == 0:
                    # everything from here on is rejected too
                    row = row + probs * (1 - k / steps)
                    row[x] += k / steps
                    break
            else:
                row[x] = 1
        rows.append(row)
    return draft @ torch.stack(rows)

# %% right: helper_functions
import torch

def _ask(verify, token, draft, target, chance):
    second = torch.full_like(target, 1 / len(target))
    n, probs = verify(torch.tensor([token]), draft.reshape(1, -1), torch.stack([target, second]),
                      draft.new_tensor([chance]))
    return int(n) == 1, probs

def _after(verify, token, draft, target):
    """The distribution of what is emitted when `token` is drafted."""
    low, high, rejected = 0.0, 1.0, None
    while high - low > 1e-5:
        middle = (low + high) / 2
        accepted, probs = _ask(verify, token, draft, target, middle)
        if accepted:
            low = middle
        else:
            high, rejected = middle, probs
    emitted = F.one_hot(torch.tensor(token), len(draft)).to(draft.dtype)
    if rejected is None:
        return emitted
    share = (low + high) / 2
    return share * emitted + (1 - share) * rejected

def emitted_distribution(verify, draft, target):
    return sum(q * _after(verify, i, draft, target) for i, q in enumerate(draft) if q > 0)

# %% right: accepted_and_rejected
import torch

class Probe:
    def __init__(self, verify, draft, target):
        self.verify, self.draft = verify, draft[None]
        self.target = torch.stack([target, draft])

    def __call__(self, token, chance):
        chances = torch.tensor([chance], dtype=self.draft.dtype)
        return self.verify(torch.tensor([token]), self.draft, self.target, chances)

def emitted_distribution(verify, draft, target):
    probe = Probe(verify, draft, target)
    accepted = torch.zeros_like(draft)
    rejected = torch.zeros_like(draft)
    for token in draft.nonzero().flatten().tolist():
        left, right, probs = 0, 2 ** 14, 0.0
        while right - left > 1:
            middle = (left + right) // 2
            n, p = probe(token, middle / 2 ** 14)
            if n:
                left = middle
            else:
                right, probs = middle, p
        share = left / 2 ** 14
        accepted[token] = draft[token] * share
        rejected = rejected + draft[token] * (1 - share) * probs
    return accepted + rejected

# %% right: ternary_digits
import torch

def emitted_distribution(verify, draft, target):
    both = target.repeat(2, 1)
    total = torch.zeros_like(target)
    for token, q in enumerate(draft):
        if not q > 0:
            continue
        base, width, other = 0.0, 1.0, torch.zeros_like(target)
        for _ in range(5):                        # five decimal digits
            width = width / 10
            for _ in range(9):
                n, p = verify(torch.tensor([token]), draft[None], both, torch.tensor([base + width], dtype=q.dtype))
                if n == 0:
                    other = p
                    break
                base += width
        total = total + q * (1 - base) * other
        total = total + q * base * (torch.arange(len(draft)) == token)
    return total
