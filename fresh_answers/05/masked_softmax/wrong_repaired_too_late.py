# a fully blocked row is repaired after softmax has made NaN, which stays in the gradient
import torch


def masked_softmax(scores, mask):
    bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device).masked_fill_(mask, float("-inf"))
    a = (scores + bias).softmax(-1)
    return torch.nan_to_num(a, nan=0.0)
