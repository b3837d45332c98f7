# one draw per key, shared by all queries, in place of one per entry
import torch
from torch import nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout

    def forward(self, query, key, value):
        weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
        if self.training and self.dropout:
            survives = torch.rand_like(weights[..., :1, :]) >= self.dropout
            weights = weights * survives / (1 - self.dropout)
        return weights @ value, weights
