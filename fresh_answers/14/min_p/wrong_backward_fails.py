# zeros are written into the result of softmax, whose gradient then raises an error
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p needs to be from 0 to 1 and is {p}")
    probs = torch.softmax(logits, -1)
    probs[(logits - logits.amax(-1, keepdim=True)).exp() < p] = 0
    return probs / probs.sum(-1, keepdim=True)
