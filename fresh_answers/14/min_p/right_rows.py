# recursion over the leading dimensions down to one row
import math

import torch


def min_p(logits, p):
    if math.isnan(p) or p < 0 or p > 1:
        raise ValueError(f"{p=} is not a share of a probability")
    if logits.dim() > 1:
        return torch.stack([min_p(part, p) for part in logits])
    best = float(logits.detach().max())
    keep = [math.exp(x - best) >= p for x in logits.tolist()]
    chosen = torch.tensor(keep, device=logits.device).nonzero().flatten()
    return torch.zeros_like(logits).index_put((chosen,), logits[chosen].softmax(0))
