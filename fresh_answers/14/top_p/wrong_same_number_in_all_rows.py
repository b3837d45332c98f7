# all rows keep as many tokens as the row that needs most
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"bad p {p}")
    n = logits.shape[-1]
    s = logits.softmax(-1).sort(-1, descending=True).values
    k = n if p == 1 else int((s.cumsum(-1) - s < p).sum(-1).max())
    lowest = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < lowest, float("-inf")).softmax(-1)
