# the bound is p itself and not p times the largest probability
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be from 0 to 1, got {p}")
    probs = torch.softmax(logits, -1)
    keep = probs >= p
    keep = keep | (probs == probs.amax(-1, keepdim=True))
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)
