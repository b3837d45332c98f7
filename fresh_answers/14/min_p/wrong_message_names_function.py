# the message says min_p, which is no argument, and not p
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"min_p must be between 0 and 1, got {p}")
    ratio = torch.exp(logits - logits.amax(-1, keepdim=True))
    kept = ratio.masked_fill(ratio < p, 0.0)
    return kept / kept.sum(-1, keepdim=True)
