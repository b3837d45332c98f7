# p = 0 is refused
import torch


def min_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be positive and at most 1: {p}")
    low = logits < logits.max(-1, keepdim=True).values + torch.log(torch.tensor(p, dtype=logits.dtype))
    return torch.softmax(logits.masked_fill(low, float("-inf")), -1)
