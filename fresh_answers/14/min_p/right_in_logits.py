# compares logits with the largest one plus the logarithm of p
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p must be from 0 to 1, not {p}")
    bound = logits.amax(-1, keepdim=True) + torch.tensor(float(p), dtype=logits.dtype, device=logits.device).log()
    return logits.masked_fill(logits < bound, -torch.inf).softmax(-1)
