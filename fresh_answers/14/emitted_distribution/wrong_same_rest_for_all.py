# the distribution after a rejection is taken from the first rejected token for all of them
import torch


def emitted_distribution(verify, draft, target):
    rest, result = None, torch.zeros_like(target)
    for j in range(len(draft)):
        if draft[j] == 0:
            continue
        lo, hi = 0.0, 1.0
        for _ in range(15):
            mid = 0.5 * (lo + hi)
            n, p = verify(torch.tensor([j], device=draft.device), draft.unsqueeze(0), torch.stack((target, target)), draft.new_tensor([mid]))
            if n == 1:
                lo = mid
            else:
                hi = mid
                if rest is None:
                    rest = p
        result[j] += draft[j] * lo
        if hi < 1:
            result += draft[j] * (1 - lo) * rest
        else:
            result[j] += draft[j] * (1 - lo)
    return result
