"""Right answers to `MultiHeadAttention` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% HeadByHead uses itself
class MultiHeadAttention(nn.Module):
    """A loop over bands of columns; dropout by hand; a buffer that has no part in it."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} must be divisible by n_heads={n_heads}")
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.size, self.dropout = d_model // n_heads, dropout
        self.register_buffer("causal", torch.ones(64, 64).triu(1).bool())

    def forward(self, x, context=None, mask=None):
        source = context if context is not None else x
        shape = (x.shape[0], self.W_q.out_features // self.size, x.shape[1], source.shape[1])
        blocked = torch.zeros(shape, dtype=torch.bool, device=x.device) if mask is None else mask.expand(shape)
        outputs, maps = [], []
        for h in range(shape[1]):
            band = slice(h * self.size, (h + 1) * self.size)
            q, k, v = self.W_q(x)[..., band], self.W_k(source)[..., band], self.W_v(source)[..., band]
            scores = torch.bmm(q * self.size**-0.5, k.transpose(1, 2)).masked_fill(blocked[:, h], float("-inf"))
            w = torch.nan_to_num(torch.softmax(scores, 2), nan=0.0)
            if self.training and self.dropout > 0:
                w = w * torch.bernoulli(torch.full_like(w, 1 - self.dropout)) / (1 - self.dropout)
            outputs.append(w @ v)
            maps.append(w)
        return self.W_o(torch.cat(outputs, -1)), torch.stack(maps, 1)


# %% FoldedIntoTheBatch uses itself
class MultiHeadAttention(nn.Module):
    """Heads as part of the batch, baddbmm, nn.Dropout; layers kept in a list beside their names."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.h, remainder = n_heads, d_model % n_heads if n_heads > 0 else d_model
        if remainder:
            raise ValueError(f"{n_heads = } leaves a remainder of {remainder} in {d_model = }")
        self.layers = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_q, self.W_k, self.W_v, self.W_o = self.layers
        self.drop = nn.Dropout(p=dropout)
        self.temperature = math.sqrt(d_model / n_heads)

    def fold(self, t):
        B, L, D = t.shape
        return t.view(B, L, self.h, D // self.h).permute(0, 2, 1, 3).reshape(B * self.h, L, D // self.h)

    def forward(self, x, context=None, mask=None):
        if context is None:
            context = x
        (B, T, D), S = x.shape, context.shape[1]
        q, k, v = self.fold(self.W_q(x)), self.fold(self.W_k(context)), self.fold(self.W_v(context))
        empty = torch.zeros(B * self.h, T, S, dtype=x.dtype, device=x.device)
        scores = torch.baddbmm(empty, q, k.permute(0, 2, 1), beta=0, alpha=1 / self.temperature)
        if mask is None:
            weights = F.softmax(scores, dim=-1)
        else:
            blocked = torch.broadcast_to(mask, (B, self.h, T, S)).reshape(B * self.h, T, S)
            weights = F.softmax(torch.where(blocked, torch.finfo(x.dtype).min, scores), dim=-1) * blocked.logical_not()
        weights = self.drop(weights)
        heads = torch.bmm(weights, v).view(B, self.h, T, -1).permute(0, 2, 1, 3).contiguous().view(B, T, D)
        return self.W_o(heads), weights.unflatten(0, (B, self.h))


# %% ByEinsum uses itself
class MultiHeadAttention(nn.Module):
    """Named dimensions, a softmax by hand, weights taken straight from the layers."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.n_heads, self.rate = n_heads, dropout
        for role in "qkvo":
            self.add_module(f"W_{role}", nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        y = x if context is None else context
        heads = lambda layer: layer.weight.view(self.n_heads, -1, x.shape[-1])
        q = torch.einsum("btd,hkd->bthk", x, heads(self.W_q))
        k = torch.einsum("bsd,hkd->bshk", y, heads(self.W_k))
        v = torch.einsum("bsd,hkd->bshk", y, heads(self.W_v))
        scores = torch.einsum("bthk,bshk->bhts", q, k).div(q.size(-1) ** 0.5)
        open_ = torch.ones_like(scores) if mask is None else (~mask).to(scores.dtype)
        highest = scores.masked_fill(open_ == 0, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        grown = torch.exp((scores - highest).clamp(max=0.0)) * open_
        weights = grown / grown.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)
        if self.training:
            weights = F.dropout(weights, p=self.rate)
        return self.W_o(torch.einsum("bhts,bshk->bthk", weights, v).flatten(2)), weights


# %% Inherited uses itself
class _Projected(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.W_q = nn.Linear(width, width, bias=False)
        self.W_k = nn.Linear(width, width, bias=False)
        self.W_v = nn.Linear(width, width, bias=False)


class MultiHeadAttention(_Projected):
    """Its own subclass, vmap over sentences and heads, softmax through logsumexp."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        if not n_heads > 0 or d_model / n_heads != d_model // n_heads:
            raise ValueError(f"d_model ({d_model}) / n_heads ({n_heads}) is not a whole number")
        super().__init__(d_model)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.n_heads, self.dropout = n_heads, nn.Dropout(dropout, inplace=False)

    def forward(self, x, context=None, mask=None):
        source = x if context is None else context
        q, k, v = (
            torch.stack(t.tensor_split(self.n_heads, -1), 1) for t in (self.W_q(x), self.W_k(source), self.W_v(source))
        )
        scores = torch.vmap(torch.vmap(lambda a, b: a @ b.T))(q, k) * (1 / q.shape[-1] ** 0.5)
        if mask is None:
            mask = scores.new_zeros((), dtype=torch.bool)
        nothing = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask & ~nothing, -math.inf)
        weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True)).masked_fill(nothing, 0)
        weights = self.dropout(weights)
        merged = torch.vmap(torch.vmap(torch.matmul))(weights, v).permute(0, 2, 1, 3).flatten(start_dim=2)
        return self.W_o(merged), weights


# %% WithAnExtraKey uses itself
class MultiHeadAttention(nn.Module):
    """Blocked rows attend to a key of zero value with score 0 only where nothing else is open."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads not in range(1, d_model + 1) or d_model not in range(n_heads, d_model + 1, n_heads):
            raise ValueError(f"d_model is {d_model}: no multiple of {n_heads}")
        linear = type("Projection", (nn.Linear,), {})
        self.W_q, self.W_k = linear(d_model, d_model, bias=False), linear(d_model, d_model, bias=False)
        self.W_v, self.W_o = linear(d_model, d_model, bias=False), linear(d_model, d_model, bias=False)
        self.register_buffer("scale", torch.tensor((d_model // n_heads) ** -0.5), persistent=False)
        self.n_heads, self.dropout_p = n_heads, dropout

    @staticmethod
    def _heads(t, n):
        return torch.stack(t.chunk(n, dim=2), dim=1)

    def forward(self, x, context=None, mask=None):
        y = x if context is None else context
        q, k, v = (self._heads(t, self.n_heads) for t in (self.W_q(x), self.W_k(y), self.W_v(y)))
        scores = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        if mask is not None:
            mask = mask.expand(scores.shape)
            scores = scores.masked_fill(mask, -torch.inf)
            spare = torch.where(mask.all(-1, keepdim=True), 0.0, -torch.inf).to(scores)
            scores = torch.cat([scores, spare], -1)
        weights = scores.softmax(-1)[..., : k.shape[2]]
        if self.training and self.dropout_p:
            weights = weights.masked_fill(torch.rand_like(weights) < self.dropout_p, 0) / (1 - self.dropout_p)
        out = sum(self.W_o.weight.chunk(self.n_heads, 1)[h] @ (weights[:, h] @ v[:, h]).mT for h in range(self.n_heads))
        return out.mT, weights
