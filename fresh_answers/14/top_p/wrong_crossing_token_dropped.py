# the token with which the sum reaches p is left out, except where it is the first
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], got {p}")
    probs = logits.softmax(-1)
    values, index = probs.sort(-1, descending=True)
    keep = values.cumsum(-1) <= p
    keep[..., 0] = True
    if p == 1:
        keep[...] = True
    mask = torch.zeros_like(keep).scatter(-1, index, keep)
    out = torch.where(mask, probs, torch.zeros_like(probs))
    return out / out.sum(-1, keepdim=True)
