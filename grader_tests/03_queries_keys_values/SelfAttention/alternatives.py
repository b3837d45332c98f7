"""Right answers to `SelfAttention` in other styles."""

import torch
import torch.nn.functional as F
from torch import nn


# %% WrittenOut
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1)
        weights = scores.softmax(dim=-1)
        return weights @ self.W_v(x), weights


# %% LayersInAList
class SelfAttention(nn.Module):
    """The layers have two names each: an attribute and a place in a list."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(d_model, width, bias=False) for width in (d_k, d_k, d_v))
        self.W_q, self.W_k, self.W_v = self.layers

    def forward(self, x):
        query, key, value = (layer(x) for layer in self.layers)
        weights = torch.softmax(torch.einsum("...tk,...sk->...ts", query, key), -1)
        return torch.einsum("...ts,...sv->...tv", weights, value), weights


# %% ByTheBuiltIn
class SelfAttention(nn.Module):
    """The built-in returns no weights: with an identity as values, its output is the weights."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        for name, width in {"q": d_k, "k": d_k, "v": d_v}.items():
            self.add_module(f"W_{name}", nn.Linear(d_model, width, bias=False))

    def forward(self, x):
        q, k = F.linear(x, self.W_q.weight), F.linear(x, self.W_k.weight)
        eye = torch.eye(x.shape[-2], dtype=x.dtype, device=x.device).expand(*x.shape[:-1], x.shape[-2])
        weights = F.scaled_dot_product_attention(q, k, eye, scale=1.0)
        return weights @ self.W_v(x), weights


# %% WordsAveragedFirst
class SelfAttention(nn.Module):
    """The average of projected words is the projection of the average."""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(d_model, d_k, bias=False), nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        weights = F.softmax(torch.matmul(self.W_q(x), self.W_k(x).mT), dim=-1)
        return self.W_v(weights @ x), weights
