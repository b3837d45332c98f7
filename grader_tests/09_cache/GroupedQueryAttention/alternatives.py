"""Right answers to `GroupedQueryAttention` in other styles."""

import math

import torch
from torch import nn


# %% RepeatingKeys
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_groups = {n_groups} does not divide n_heads = {n_heads}")
        self.n_heads, self.n_groups, self.width = n_heads, n_groups, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_groups * self.width, bias=False)
        self.W_v = nn.Linear(d_model, n_groups * self.width, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        query = self.W_q(x).view(B, T, self.n_heads, self.width).transpose(1, 2)
        key, value = (
            layer(x)
            .view(B, T, self.n_groups, self.width)
            .transpose(1, 2)
            .repeat_interleave(self.n_heads // self.n_groups, 1)
            for layer in (self.W_k, self.W_v)
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.width)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        return self.W_o((weights @ value).transpose(1, 2).reshape(B, T, D)), weights


# %% LettingGroupsBroadcast
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        super().__init__()
        if not (n_heads > 0 and d_model % n_heads == 0):
            raise ValueError(f"{n_heads=} leaves a remainder in {d_model=}")
        if not (n_groups > 0 and n_heads % n_groups == 0):
            raise ValueError(f"{n_groups=} leaves a remainder in {n_heads=}")
        self.shape = (n_groups, n_heads // n_groups, d_model // n_heads)
        small = n_groups * self.shape[-1]
        self.W_q, self.W_o = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.W_k, self.W_v = nn.Linear(d_model, small, bias=False), nn.Linear(d_model, small, bias=False)

    def forward(self, x, mask=None):
        G, each, K = self.shape
        query = self.W_q(x).unflatten(-1, self.shape).permute(0, 2, 3, 1, 4)
        key = self.W_k(x).unflatten(-1, (G, K)).transpose(1, 2).unsqueeze(2)
        value = self.W_v(x).unflatten(-1, (G, K)).transpose(1, 2).unsqueeze(2)
        scores = (query * K**-0.5 @ key.mT).flatten(1, 2)
        blocked = torch.zeros_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
        weights = scores.masked_fill(blocked, torch.finfo(x.dtype).min).softmax(-1) * ~blocked
        mixed = weights.unflatten(1, (G, each)) @ value
        return self.W_o(mixed.permute(0, 3, 1, 2, 4).flatten(2)), weights


# %% HeadByHead
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads:
            raise ValueError("d_model %d, n_heads %d" % (d_model, n_heads))
        if n_groups <= 0 or n_heads % n_groups:
            raise ValueError("n_heads %d, n_groups %d" % (n_heads, n_groups))
        self.H, self.G, K = n_heads, n_groups, d_model // n_heads
        self.W_o, self.W_q = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(d_model, n_groups * K, bias=False) for _ in range(2))

    def forward(self, x, mask=None):
        queries, keys, values = (
            self.W_q(x).chunk(self.H, -1),
            self.W_k(x).chunk(self.G, -1),
            self.W_v(x).chunk(self.G, -1),
        )
        T = x.shape[1]
        blocked = torch.zeros(1, dtype=torch.bool, device=x.device) if mask is None else mask
        blocked = blocked.expand(len(x), self.H, T, T)
        heads, maps = [], []
        for h in range(self.H):
            g = h * self.G // self.H
            scores = torch.bmm(queries[h], keys[g].transpose(1, 2)) / queries[h].shape[-1] ** 0.5
            share = scores.masked_fill(blocked[:, h], float("-inf")).softmax(-1).masked_fill(blocked[:, h], 0.0)
            heads.append(share @ values[g])
            maps.append(share)
        return self.W_o(torch.cat(heads, -1)), torch.stack(maps, 1)
