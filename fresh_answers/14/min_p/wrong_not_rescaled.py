# the kept probabilities do not sum to 1
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p={p}, must be 0 to 1")
    probs = logits.softmax(dim=-1)
    return torch.where(logits.sub(logits.amax(-1, keepdim=True)).exp() >= p, probs, torch.zeros_like(probs))
