# the mask is applied to scores (B, G, H / G, T, T) as it is, so that its batch falls on the groups
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads = {n_heads} must divide d_model = {d_model}")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_groups = {n_groups} must divide n_heads = {n_heads}")
        self.H, self.G, self.K = n_heads, n_groups, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_groups * self.K, bias=False)
        self.W_v = nn.Linear(d_model, n_groups * self.K, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.G, self.H // self.G, self.K)
        k = self.W_k(x).view(B, T, self.G, self.K)
        v = self.W_v(x).view(B, T, self.G, self.K)
        scores = torch.einsum("btgrk,bsgk->bgrts", q, k) / self.K**0.5
        if mask is not None:
            scores = scores.masked_fill(mask, -1e30)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        out = torch.einsum("bgrts,bsgk->btgrk", weights, v).reshape(B, T, D)
        return self.W_o(out), weights.reshape(B, self.H, T, T)
