# the message of the ValueError names no argument, only the value
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"expected a positive number, got {penalty}")
    f = torch.ones_like(logits)
    f = f.index_fill(0, ids, penalty)
    return torch.where(logits > 0, logits / f, logits * f)
