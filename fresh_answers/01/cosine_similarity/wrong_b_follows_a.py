# only b is broadcast, to the shape of a, never a to the shape of b
import torch


def cosine_similarity(a, b):
    b = b.expand_as(a)

    def unit(v):
        square = (v * v).sum(-1, keepdim=True)
        return v / torch.where(square > 0, square, torch.ones_like(square)).sqrt()

    return torch.einsum("...k,...k->...", unit(a), unit(b))
