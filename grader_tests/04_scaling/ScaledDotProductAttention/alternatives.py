"""Right answers to `ScaledDotProductAttention` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% ByFunction
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout

    def extra_repr(self):
        return f"dropout={self.dropout}"

    def forward(self, query, key, value):
        scores = torch.matmul(query, key.mT).div(math.sqrt(key.size(-1)))
        weights = F.dropout(F.softmax(scores, -1), p=self.dropout, training=self.training)
        return torch.matmul(weights, value), weights


# %% ByBernoulli
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.register_buffer("keep", torch.tensor(1.0 - dropout))

    def forward(self, query, key, value):
        weights = (query * query.shape[-1] ** -0.5 @ key.transpose(-1, -2)).softmax(-1)
        if self.training:
            weights = weights * torch.bernoulli(self.keep.expand(weights.shape)) / self.keep
        return weights @ value, weights


# %% ByRand
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = torch.einsum("...ij,...kj->...ik", query, key) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores, -1)
        if not self.training or self.p == 0:
            return torch.einsum("...ik,...kj->...ij", weights, value), weights
        weights = weights.masked_fill(torch.rand(weights.shape) < self.p, 0.0) / (1 - self.p)
        return torch.einsum("...ik,...kj->...ij", weights, value), weights


# %% ByDistribution
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.kept = torch.distributions.Bernoulli(probs=1.0 - dropout)
        self.softmax = nn.Softmax(dim=-1)

    def thinned(self, weights):
        if not self.training:
            return weights
        return torch.where(self.kept.sample(weights.shape) > 0, weights / self.kept.mean, 0.0)

    def forward(self, query, key, value):
        root = query.shape[-1] ** 0.25
        weights = self.thinned(self.softmax((query / root) @ (key / root).transpose(-2, -1)))
        return weights @ value, weights


# %% ByDroppedOnes
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.parts = nn.ModuleDict({"noise": nn.Dropout(p=dropout)})

    def forward(self, query, key, value):
        scores = (query[..., :, None, :] * key[..., None, :, :]).sum(-1) / query.shape[-1] ** 0.5
        noise = self.parts["noise"](torch.ones_like(scores))  # 0 or 1 / (1 - p)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp() * noise
        return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


# %% ThinnedInPlace
class ScaledDotProductAttention(nn.Dropout):
    def __init__(self, dropout=0.0):
        super().__init__(p=dropout)

    def forward(self, query, key, value):
        weights = torch.softmax(query @ key.transpose(-2, -1) * key.shape[-1] ** -0.5, dim=-1)
        noise = torch.empty_like(weights).bernoulli_(1 - self.p).div_(1 - self.p)
        weights = torch.mul(weights, noise) if self.training else weights
        return weights @ value, weights


# %% OneRowAtATime
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        outputs, rows = [], []
        for q in query.unbind(-2):
            scores = (key @ q.unsqueeze(-1)).squeeze(-1) / math.sqrt(q.shape[-1])
            rows.append(self.dropout(scores.softmax(-1)))
            outputs.append((rows[-1].unsqueeze(-1) * value).sum(-2))
        return torch.stack(outputs, -2), torch.stack(rows, -2)
