# p = 0 is accepted, and keeps one token
import torch


def top_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, it must be from 0 to 1")
    if p == 1:
        return logits.softmax(-1)
    v, i = logits.softmax(-1).sort(-1, descending=True)
    out = v.cumsum(-1) - v >= p
    out[..., 0] = False
    return logits.masked_fill(out.gather(-1, i.argsort(-1)), -torch.inf).softmax(-1)
