# where all scores are -inf the value is right, and the gradient NaN
import torch


def logsumexp_of(scores):
    top = scores.amax(-1)
    total = torch.exp(scores - top[..., None]).sum(-1).log() + top
    return torch.where(top == -torch.inf, top, total)
