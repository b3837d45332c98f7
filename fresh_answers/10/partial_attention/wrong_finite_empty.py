# the log-sum-exp of a row without an open key is a large negative number, not -inf
import torch


def partial_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    top = scores.detach().amax(-1, keepdim=True)
    e = torch.exp(scores - top)
    if mask is not None:
        e = e.masked_fill(mask, 0.0)
    total = e.sum(-1, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (e / total) @ value, (top + total.log()).squeeze(-1)
