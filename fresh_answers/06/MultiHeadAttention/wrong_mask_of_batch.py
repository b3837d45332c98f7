# the mask always gets a new dimension for the heads, so that one of shape (B, 1, T, S) or (B, H, T, S) no longer fits
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model ({d_model}) cannot be cut into n_heads ({n_heads}) parts")
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.n_heads = n_heads
        self.drop = nn.Dropout(dropout)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = (
            torch.stack(layer(y).chunk(self.n_heads, dim=-1), dim=1)
            for layer, y in ((self.W_q, x), (self.W_k, context), (self.W_v, context))
        )
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            blocked = mask.unsqueeze(-3) if mask.dim() < 4 else mask.unsqueeze(1)
            scores = scores.masked_fill(blocked, -1e30)
            weights = torch.softmax(scores, -1).masked_fill(blocked, 0)
        else:
            weights = torch.softmax(scores, -1)
        weights = self.drop(weights)
        mixed = torch.einsum("bhts,bhsk->bthk", weights, v)
        return self.W_o(mixed.flatten(-2)), weights
