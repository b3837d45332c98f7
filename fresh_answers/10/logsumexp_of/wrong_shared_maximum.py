# one maximum for all rows, so that the sum of a row far below it underflows to 0, and its logarithm to -inf
import torch


def logsumexp_of(scores):
    top = scores.detach().max()
    if torch.isneginf(top):
        top = torch.zeros_like(top)
    total = (scores - top).exp().sum(dim=-1)
    empty = total == 0
    return torch.where(empty, torch.full_like(total, float("-inf")), total.masked_fill(empty, 1.0).log() + top)
