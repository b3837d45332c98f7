# math.log(p) raises an error for p = 0
import math

import torch


def min_p(logits, p):
    if p < 0 or p > 1 or p != p:
        raise ValueError(f"p: {p} is outside of 0 to 1")
    log_probs = torch.log_softmax(logits, -1)
    bound = log_probs.max(-1, keepdim=True).values + math.log(p)
    return torch.where(log_probs >= bound, log_probs, -torch.inf).softmax(-1)
