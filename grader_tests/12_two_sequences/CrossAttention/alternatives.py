"""Right answers to `CrossAttention` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% HeadByHead
class CrossAttention(nn.Module):
    """A loop over bands of columns, with all steps of one head together."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.size = d_model // n_heads

    def forward(self, x, source, source_mask=None):
        q, k, v = self.W_q(x), self.W_k(source), self.W_v(source)
        outputs, maps = [], []
        for band in zip(q.split(self.size, -1), k.split(self.size, -1), v.split(self.size, -1)):
            query, key, value = band
            scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(self.size)
            if source_mask is not None:
                scores = scores.masked_fill(source_mask.unsqueeze(1), float("-inf"))
                weights = torch.softmax(scores, -1).masked_fill(source_mask.unsqueeze(1), 0.0)
            else:
                weights = torch.softmax(scores, -1)
            outputs.append(weights @ value)
            maps.append(weights)
        return self.W_o(torch.cat(outputs, -1)), torch.stack(maps, 1)


# %% ByEinsum
class CrossAttention(nn.Module):
    """Named dimensions, and a softmax by hand whose sum is never 0."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in "qkvo":
            self.add_module(f"W_{name}", nn.Linear(d_model, d_model, bias=False))

    def heads(self, t):
        return t.view(*t.shape[:2], self.n_heads, -1)

    def forward(self, x, source, source_mask=None):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(source)), self.heads(self.W_v(source))
        scores = torch.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
        if source_mask is None:
            source_mask = torch.zeros(source.shape[:2], dtype=torch.bool, device=source.device)
        blocked = source_mask[:, None, None, :]
        top = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        grown = (scores - top).masked_fill(blocked, -torch.inf).exp()
        weights = grown / grown.sum(-1, keepdim=True).clamp(min=1e-30)
        mixed = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(mixed.reshape(x.shape)), weights


# %% WithABiasOnTheScores
class CrossAttention(nn.Module):
    """The mask becomes numbers that are added, where there is an open position; without one the weights are cleared."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.W_q = nn.Linear(d_model, d_model, False)
        self.W_k = nn.Linear(d_model, d_model, False)
        self.W_v = nn.Linear(d_model, d_model, False)
        self.W_o = nn.Linear(d_model, d_model, False)
        self.h = n_heads

    def forward(self, x, source, source_mask=None):
        B, T, D = x.shape
        S = source.size(1)
        q = self.W_q(x).view(B, T, self.h, D // self.h).permute(0, 2, 1, 3)
        k = self.W_k(source).view(B, S, self.h, D // self.h).permute(0, 2, 3, 1)
        v = self.W_v(source).view(B, S, self.h, D // self.h).permute(0, 2, 1, 3)
        scores = torch.matmul(q, k) / (D / self.h) ** 0.5
        if source_mask is not None:
            empty = source_mask.all(dim=1).view(B, 1, 1, 1)
            bias = torch.zeros(B, 1, 1, S, dtype=x.dtype, device=x.device)
            bias = bias.masked_fill(source_mask.view(B, 1, 1, S) & ~empty, -math.inf)
            weights = F.softmax(scores + bias, dim=3) * (~empty)
        else:
            weights = F.softmax(scores, dim=3)
        output = (weights @ v).transpose(1, 2).contiguous().view(B, T, D)
        return self.W_o(output), weights


# %% ByTheBuiltIn
class CrossAttention(nn.Module):
    """PyTorch's attention twice: with the values, and with the identity for values, which gives the weights."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = [nn.Linear(d_model, d_model, bias=False) for _ in range(4)]

    def forward(self, x, source, source_mask=None):
        q, k, v = (
            f(t).unflatten(2, (self.n_heads, -1)).movedim(2, 1)
            for f, t in ((self.W_q, x), (self.W_k, source), (self.W_v, source))
        )
        S = source.shape[1]
        allowed = None
        if source_mask is not None:
            # a row without an open key is opened, and its weights cleared afterwards
            allowed = (~source_mask | source_mask.all(1, keepdim=True))[:, None, None, :].expand(-1, 1, x.shape[1], -1)
        eye = torch.eye(S, dtype=x.dtype, device=x.device).expand(len(x), self.n_heads, S, S)
        weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=allowed)
        if source_mask is not None:
            weights = weights.masked_fill(source_mask[:, None, None], 0)
        return self.W_o((weights @ v).movedim(1, 2).flatten(2)), weights
