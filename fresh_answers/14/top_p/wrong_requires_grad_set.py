# the logits require a gradient after the call, though they did not before
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p has the value {p}, which is not in (0, 1]")
    logits.requires_grad_(True)
    w = torch.softmax(logits, dim=-1)
    s, i = w.detach().sort(-1, descending=True)
    keep = ((s.cumsum(-1) - s < p) | (p == 1)).gather(-1, i.argsort(-1))
    w = torch.where(keep, w, w.new_zeros(()))
    return w / w.sum(-1, keepdim=True)
