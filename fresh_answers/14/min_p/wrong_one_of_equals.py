# p = 1 keeps one token also where two are equally probable
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must not be {p}")
    if p == 1:
        best = logits.argmax(-1, keepdim=True)
        keep = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, best, True)
    else:
        keep = (logits - logits.amax(-1, keepdim=True)).exp() >= p
    return logits.masked_fill(~keep, -torch.inf).softmax(-1)
