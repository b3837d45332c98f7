# at a vector of zeros the value is 0, but its gradient is NaN
import torch


def cosine_similarity(a, b):
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    ratio = torch.sum(a * b, dim=-1) / lengths
    return torch.where(lengths > 0, ratio, torch.zeros_like(ratio))
