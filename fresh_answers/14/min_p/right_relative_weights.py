# weights relative to the most probable token, which has exactly 1; divided once
import torch


def min_p(logits, p):
    if not (p >= 0 and p <= 1):
        raise ValueError("p is %s; allowed: 0 <= p <= 1" % p)
    top = torch.max(logits.detach(), dim=-1, keepdim=True)[0]
    relative = torch.exp(logits - top)
    relative = torch.where(relative >= p, relative, torch.zeros_like(relative))
    return relative / torch.sum(relative, -1, keepdim=True)
