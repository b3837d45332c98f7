# whether dropout falls is decided when the module is made, not by the mode at the call
import torch
from torch import nn
from torch.nn import functional as F


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout if self.training else 0.0

    def forward(self, query, key, value):
        scale = query.shape[-1] ** -0.5
        weights = F.softmax(torch.matmul(query * scale, key.transpose(-2, -1)), dim=-1)
        weights = F.dropout(weights, self.p)
        return weights @ value, weights
