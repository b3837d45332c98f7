# each head gathers its group by an index
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads of {n_heads} in a width of {d_model}")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_groups of {n_groups} for {n_heads} heads")
        K = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_groups * K, bias=False)
        self.W_v = nn.Linear(d_model, n_groups * K, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.width = K
        self.group_of = [h * n_groups // n_heads for h in range(n_heads)]

    def forward(self, x, mask=None):
        K = self.width
        q = torch.stack(self.W_q(x).split(K, -1), 1)
        keys, values = (layer(x).split(K, -1) for layer in (self.W_k, self.W_v))
        k = torch.stack([keys[g] for g in self.group_of], 1)
        v = torch.stack([values[g] for g in self.group_of], 1)
        scores = (q @ k.mT).div(K**0.5)
        open_keys = torch.ones_like(scores, dtype=torch.bool)
        if mask is not None:
            open_keys = open_keys & ~mask
        some = open_keys.any(-1, keepdim=True)
        scores = scores.masked_fill(~open_keys & some, float("-inf"))
        weights = scores.softmax(-1) * some
        output = torch.cat((weights @ v).unbind(1), dim=-1)
        return self.W_o(output), weights
