# the second row of target is zeros, which is no distribution
import torch


def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    rows = torch.stack([target, torch.zeros_like(target)])
    for t in range(len(draft)):
        if float(draft[t]) > 0:
            lo, hi, last = 0.0, 1.0, target
            for _ in range(14):
                c = (lo + hi) / 2
                k, q = verify(torch.tensor([t], device=draft.device), draft[None], rows, draft.new_tensor([c]))
                if k:
                    lo = c
                else:
                    hi, last = c, q
            a = lo if hi < 1 else 1.0
            out = out + draft[t] * (1 - a) * last
            out[t] = out[t] + draft[t] * a
    return out
