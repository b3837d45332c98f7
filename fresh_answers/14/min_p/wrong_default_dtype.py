# computed in float32, and returned in it, whatever the logits are
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p={p} makes no sense")
    low = (logits - logits.amax(-1, keepdim=True)).exp() < p
    return logits.to(torch.float32).masked_fill(low, -torch.inf).softmax(-1)
