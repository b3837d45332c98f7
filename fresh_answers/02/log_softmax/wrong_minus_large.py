# a score of -inf becomes the smallest finite number, not -inf
import torch


def log_softmax(x, dim=-1):
    x = x - torch.amax(x, dim, keepdim=True)
    result = x - torch.log(torch.sum(torch.exp(x), dim, keepdim=True))
    return torch.nan_to_num(result, neginf=torch.finfo(result.dtype).min)
