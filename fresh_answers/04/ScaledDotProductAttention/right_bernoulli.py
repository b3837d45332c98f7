# a Bernoulli mask that is already divided
import torch
from torch import nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        nn.Module.__init__(self)
        self.keep = 1.0 - dropout

    def forward(self, query, key, value):
        root = float(key.shape[-1]) ** 0.25
        weights = torch.softmax((query / root) @ (key / root).transpose(-1, -2), -1)
        if self.training:
            factors = torch.bernoulli(torch.full_like(weights, self.keep)).div(self.keep)
            weights = weights * factors
        return torch.matmul(weights, value), weights
