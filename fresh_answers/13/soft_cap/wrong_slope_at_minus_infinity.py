# a score of -inf is passed on as it is, with a gradient of 1 in place of 0
import torch


def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be greater than 0, got {cap}")
    return torch.where(scores.isneginf(), scores, cap * torch.tanh(scores / cap))
