# computes min(1, target / draft) by itself and does not see how verify decides
import torch


def emitted_distribution(verify, draft, target):
    n = len(draft)
    out = torch.zeros_like(draft)
    both = torch.stack([target, target])
    for i in range(n):
        if draft[i] == 0:
            continue
        share = min(1.0, float(target[i] / draft[i]))
        out[i] += draft[i] * share
        if share < 1:
            k, rest = verify(torch.tensor([i], device=draft.device), draft[None], both, draft.new_tensor([min(share + 1e-3, 0.9999)]))
            out += draft[i] * (1 - share) * rest
    return out
