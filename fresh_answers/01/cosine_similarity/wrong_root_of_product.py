# the squared lengths are multiplied before the root, which overflows for float32 vectors of 1e15
def cosine_similarity(a, b):
    import torch

    top = (a * b).sum(-1)
    squares = a.square().sum(-1) * b.square().sum(-1)
    zero = squares == 0
    return torch.where(zero, torch.zeros_like(top), top) / torch.where(zero, torch.ones_like(squares), squares).sqrt()
