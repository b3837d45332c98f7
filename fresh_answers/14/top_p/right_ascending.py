# sorts upwards: a token stays where it and all less probable ones have more than 1 - p
import torch


def top_p(logits, p):
    if p > 0 and p <= 1:
        pass
    else:
        raise ValueError(f"p={p!r}, expected 0 < p <= 1")
    rising = logits.detach().softmax(-1).sort(-1)
    tail = torch.cumsum(rising.values, -1)
    ranks = rising.indices.argsort(-1)
    stays = tail.gather(-1, ranks) > 1 - p
    weights = torch.exp(logits - logits.detach().amax(-1, keepdim=True))
    weights = torch.where(stays, weights, torch.zeros_like(weights))
    return weights / weights.sum(-1, True)
