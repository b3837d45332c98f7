# p = 1 as an int is refused, only floats are taken
import torch


def top_p(logits, p):
    if not isinstance(p, float) or not 0 < p <= 1:
        raise ValueError(f"p must be a float in (0, 1], got {p!r}")
    if p == 1.0:
        return torch.softmax(logits, -1)
    s, i = torch.softmax(logits, -1).sort(-1, descending=True)
    s = torch.where(s.cumsum(-1) - s < p, s, torch.zeros_like(s))
    s = s / s.sum(-1, keepdim=True)
    return torch.gather(s, -1, i.argsort(-1))
