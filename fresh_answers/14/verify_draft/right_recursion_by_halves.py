# looks for the first rejection by halves; the chance of acceptance is capped at 1
import torch


def _first(refused, low, high):
    if high - low == 1:
        return low if refused[low] else high
    middle = (low + high) // 2
    found = _first(refused, low, middle)
    return found if found < middle else _first(refused, middle, high)


def verify_draft(drafted, draft, target, chances):
    m = drafted.shape[0]
    steps = torch.arange(m, device=drafted.device)
    bound = (target[steps, drafted] / draft[steps, drafted]).clamp(max=1)
    n_accepted = _first((chances >= bound).tolist(), 0, m)
    if n_accepted == m:
        return m, target[m]
    difference = target[n_accepted] - torch.minimum(target[n_accepted], draft[n_accepted])
    return n_accepted, difference / difference.sum()
