# halving ends at intervals of 1/64, so the accepted share is off by up to a hundredth
import torch


def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    for i in range(len(draft)):
        if draft[i] == 0:
            continue
        lo, hi, rest = 0.0, 1.0, None
        while hi - lo > 1 / 64:
            mid = (lo + hi) / 2
            n, p = verify(torch.tensor([i], device=draft.device), draft[None], torch.stack([target, target]), draft.new_tensor([mid]))
            lo, hi, rest = (mid, hi, rest) if n else (lo, mid, p)
        share = 1.0 if rest is None else hi
        out[i] += draft[i] * share
        if rest is not None:
            out += draft[i] * (1 - share) * rest
    return out
