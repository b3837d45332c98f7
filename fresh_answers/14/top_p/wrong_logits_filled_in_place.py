# the logits that were given become -inf where a token is dropped
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"{p} is not allowed for p")
    with torch.no_grad():
        s, i = logits.softmax(-1).sort(-1, descending=True)
        drop = (s.cumsum(-1) - s >= p) if p < 1 else torch.zeros_like(s, dtype=torch.bool)
        logits.masked_fill_(drop.gather(-1, i.argsort(-1)), float("-inf"))
    return logits.softmax(-1)
