# softmax without taking off the largest logit: 1000 becomes NaN
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p cannot be {p}")
    e = logits.exp()
    probs = e / e.sum(-1, keepdim=True)
    if p == 1:
        return probs
    s, i = probs.sort(-1, descending=True)
    keep = torch.zeros_like(s).scatter(-1, i, (s.cumsum(-1) - s < p).to(s.dtype))
    return probs * keep / (probs * keep).sum(-1, keepdim=True)
