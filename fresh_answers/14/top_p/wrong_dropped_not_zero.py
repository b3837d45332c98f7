# dropped tokens get a low logit and not -inf, so their probability is small but not 0
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p={p}: must be > 0 and <= 1")
    s, i = logits.softmax(-1).sort(-1, descending=True)
    keep = ((s.cumsum(-1) - s < p) | (p == 1)).gather(-1, i.argsort(-1))
    return torch.where(keep, logits, logits.amax(-1, keepdim=True).detach() - 18).softmax(-1)
