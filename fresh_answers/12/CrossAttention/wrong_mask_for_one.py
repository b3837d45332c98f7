# the mask gets its new dimensions in front, which fits a batch of one only
import torch
from torch import nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for letter in "qkvo":
            setattr(self, f"W_{letter}", nn.Linear(d_model, d_model, bias=False))
        self.heads = n_heads

    def forward(self, x, source, source_mask=None):
        (B, T, D), S = x.shape, source.shape[1]
        q = self.W_q(x).view(B, T, self.heads, -1)
        k = self.W_k(source).view(B, S, self.heads, -1)
        v = self.W_v(source).view(B, S, self.heads, -1)
        s = torch.einsum("bthk,bshk->bhts", q, k) * (D // self.heads) ** -0.5
        if source_mask is not None:
            padded = source_mask[None, None]
            a = F.softmax(s.masked_fill(padded, -1e30), dim=-1).masked_fill(padded, 0.0)
        else:
            a = F.softmax(s, dim=-1)
        return self.W_o(torch.einsum("bhts,bshk->bthk", a, v).reshape(B, T, D)), a
