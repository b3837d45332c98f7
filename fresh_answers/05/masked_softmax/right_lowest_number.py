# the lowest finite number, and zeros afterwards
import torch


def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(mask, lowest).softmax(dim=-1).masked_fill(mask, 0.0)
