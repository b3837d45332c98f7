# W_o has a bias
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model, got n_heads={n_heads}, d_model={d_model}")
        self.n_heads = n_heads
        for name in ("W_q", "W_k", "W_v"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, context=None, mask=None):
        source = x if context is None else context

        def heads(y):
            return y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q, k, v = heads(self.W_q(x)), heads(self.W_k(source)), heads(self.W_v(source))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        weights = self.dropout(weights)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
