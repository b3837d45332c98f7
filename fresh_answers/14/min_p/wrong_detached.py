# the probabilities are cut off from the gradient
import torch


def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p out of range: {p}")
    w = (logits - logits.amax(-1, keepdim=True)).exp()
    w = torch.where(w >= p, w, 0.0).detach()
    return w / w.sum(-1, keepdim=True)
