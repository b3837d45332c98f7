"""Right answers to `emitted_distribution` in other styles."""

import torch
import torch.nn.functional as F


# %% halving_an_interval
def emitted_distribution(verify, draft, target):
    emitted = torch.zeros_like(draft)
    for token in range(len(draft)):
        low, high, corrected = 0.0, 1.0, target
        for _ in range(20):
            chance = (low + high) / 2
            n_accepted, probabilities = verify(
                torch.tensor([token]),
                draft[None],
                torch.stack([target, draft]),
                torch.tensor([chance], dtype=draft.dtype),
            )
            if n_accepted == 1:
                low = chance
            else:
                high, corrected = chance, probabilities
        emitted[token] += draft[token] * low
        emitted += draft[token] * (1 - low) * corrected
    return emitted


# %% many_chances_evenly_spread
def emitted_distribution(verify, draft, target):
    N, steps = len(draft), 1000
    both = torch.stack([target, torch.full_like(target, 1 / N)])
    emitted = torch.zeros_like(draft)
    for token in range(N):
        accepted, other = 0, torch.zeros_like(draft)
        for k in range(steps):
            count, probabilities = verify(
                torch.tensor([token]), draft[None], both, draft.new_tensor([(k + 0.5) / steps])
            )
            if count:
                accepted += 1
            else:
                other = probabilities
        share = accepted / steps
        emitted = emitted + draft[token] * (share * F.one_hot(torch.tensor(token), N) + (1 - share) * other)
    return emitted.to(draft.dtype)


# %% a_matrix_of_what_comes_out
def emitted_distribution(verify, draft, target):
    N = draft.shape[0]
    rows = torch.vstack([target, target])

    def ask(token, chance):
        return verify(torch.tensor([token]), draft.unsqueeze(0), rows, torch.full((1,), chance, dtype=draft.dtype))

    def threshold(token, low=0.0, high=1.0):
        if high - low < 1e-5:
            return low
        middle = (low + high) / 2
        return threshold(token, middle, high) if ask(token, middle)[0] else threshold(token, low, middle)

    outcome = torch.eye(N, dtype=draft.dtype)
    for token in range(N):
        limit = threshold(token)
        n_accepted, probabilities = ask(token, 1.0)
        if n_accepted == 0:
            outcome[token] = limit * outcome[token] + (1 - limit) * probabilities
    return draft @ outcome


# %% digit_by_digit
def emitted_distribution(verify, draft, target):
    emitted, both = [0.0] * len(draft), torch.stack((target, target))
    for token, chance_of_it in enumerate(draft.tolist()):
        limit, step, last = 0, 2048, None
        while step:
            count, probabilities = verify(
                torch.tensor([token]), draft[None, :], both, torch.tensor([(limit + step - 0.5) / 4096]).to(draft)
            )
            if count:
                limit += step
            else:
                last = probabilities.tolist()
            step //= 2
        share = limit / 4095
        emitted[token] += chance_of_it * share
        if last is not None:
            emitted = [e + chance_of_it * (1 - share) * other for e, other in zip(emitted, last)]
    return torch.tensor(emitted, dtype=draft.dtype)


# %% by_bisect
def emitted_distribution(verify, draft, target):
    from bisect import bisect_left

    class Rejections:
        def __init__(self, token):
            self.token, self.other = token, torch.zeros_like(target)

        def __len__(self):
            return 10_000

        def __getitem__(self, k):
            chance = torch.tensor([(k + 0.5) / len(self)], dtype=draft.dtype)
            asked = torch.tensor([self.token]), draft[None], target.repeat(2, 1), chance
            n_accepted, probabilities = verify(*asked)
            if not n_accepted:
                self.other = probabilities
            return not n_accepted

    total = torch.zeros_like(target)
    for token in range(len(draft)):
        rejections = Rejections(token)
        share = bisect_left(rejections, True) / len(rejections)
        one = torch.zeros_like(target)
        one[token] = share
        total += draft[token] * (one + (1 - share) * rejections.other)
    return total


# %% only_tokens_that_may_be_drafted
def emitted_distribution(verify, draft, target):
    result = torch.zeros_like(draft)
    rows = torch.stack([target, torch.ones_like(target) / len(target)])
    for token in torch.nonzero(draft).flatten():
        low, high = 0.0, 1.0
        other = None
        while high - low > 1e-4:
            middle = 0.5 * (low + high)
            count, probabilities = verify(token.reshape(1), draft.reshape(1, -1), rows, target.new_full((1,), middle))
            low, high = (middle, high) if count else (low, middle)
            other = other if count else probabilities
        result = result.index_add(0, token.reshape(1), (draft[token] * high).reshape(1))
        if other is not None:
            result = result + draft[token] * (1 - high) * other
    return result
