# for an accepted token the distribution of the token after it is added, and not the token itself
import torch


def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    two = target.repeat(2, 1)
    for i, q in enumerate(draft):
        if q > 0:
            for k in range(800):
                _, p = verify(torch.tensor([i], device=draft.device), draft.unsqueeze(0), two, q.new_tensor([(k + 0.5) / 800]))
                out += q * p / 800
    return out
