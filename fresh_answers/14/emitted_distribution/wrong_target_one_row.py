# target is handed over with one row and not with two
import torch


def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    for t in range(len(draft)):
        if draft[t] == 0:
            continue
        for k in range(1024):
            n, rest = verify(torch.tensor([t], device=draft.device), draft[None], target[None], draft.new_tensor([(k + 0.5) / 1024]))
            if n:
                out[t] += draft[t] / 1024
            else:
                out += draft[t] * rest / 1024
    return out
