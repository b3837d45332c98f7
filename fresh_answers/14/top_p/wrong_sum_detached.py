# the sum that rescales is taken as a constant in the gradient
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"value of p: {p}")
    probs = logits.softmax(-1)
    s, i = probs.sort(-1, descending=True)
    keep = ((s.cumsum(-1) - s < p) | (p == 1)).gather(-1, i.argsort(-1))
    kept = probs.masked_fill(~keep, 0)
    return kept / kept.sum(-1, keepdim=True).detach()
