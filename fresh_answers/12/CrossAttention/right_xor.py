# a fully padded source is opened by an exclusive or, and its weights set to 0
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = [nn.Linear(d_model, d_model, bias=False) for _ in range(4)]

    def forward(self, x, source, source_mask=None):
        B, T, D = x.shape
        S, H = source.shape[1], self.n_heads
        K = D // H
        queries = self.W_q(x).reshape(B, T, H, K) * K**-0.5
        scores = torch.einsum("bthk,bshk->bhts", queries, self.W_k(source).reshape(B, S, H, K))
        if source_mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = source_mask.reshape(B, 1, 1, S)
            empty = blocked.all(dim=-1, keepdim=True)
            weights = torch.softmax(scores.masked_fill(blocked ^ empty, float("-inf")), dim=-1)
            weights = weights.masked_fill(empty, 0.0)
        output = torch.einsum("bhts,bshk->bthk", weights, self.W_v(source).reshape(B, S, H, K))
        return self.W_o(output.reshape(B, T, D)), weights
