# the most probable token of all rows sets the bound in each of them
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}")
    probs = logits.softmax(-1)
    bound = p * probs.max()
    kept = probs.masked_fill((probs < bound) & (probs < probs.amax(-1, keepdim=True)), 0)
    return kept / kept.sum(-1, keepdim=True)
