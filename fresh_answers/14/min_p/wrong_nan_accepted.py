# p = NaN passes the check
import torch


def min_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError(f"p must be between 0 and 1 (got {p})")
    w = torch.exp(logits - logits.amax(dim=-1, keepdim=True))
    w = w * (w >= p)
    return w / w.sum(dim=-1, keepdim=True)
