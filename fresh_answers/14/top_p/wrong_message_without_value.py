# the message of the ValueError does not say what p is
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError("p must be greater than zero and at most one")
    if p == 1:
        return torch.softmax(logits, -1)
    probs = torch.softmax(logits, -1)
    s, i = torch.sort(probs, -1, True)
    keep = (torch.cumsum(s, -1) - s) < p
    kept = torch.zeros_like(s).scatter(-1, i, s * keep)
    return kept / kept.sum(-1, keepdim=True)
