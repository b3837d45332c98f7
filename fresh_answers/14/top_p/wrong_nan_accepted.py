# a NaN as p is not refused
import torch


def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError(f"p={p} is not in (0, 1]")
    a = torch.softmax(logits, -1)
    s, at = a.sort(-1, descending=True)
    ok = (s.cumsum(-1) - s < p) | (p >= 1)
    b = a * torch.zeros_like(ok).scatter(-1, at, ok)
    return b / b.sum(-1, keepdim=True)
