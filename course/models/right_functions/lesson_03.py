"""Right functions for queries, keys and values."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["SelfAttention", "attention", "embed"]


def embed(token_ids: Tensor, table: Tensor) -> Tensor:
    """PyTorch's embedding: ids (...), table (N, D) -> (..., D)."""
    return F.embedding(token_ids, table)


def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's unscaled attention: output (..., T, Dv) and weights (..., T, S).

    The built-in does not return weights, but with an identity matrix as values its output is the weights.
    """
    one_hot = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)
    one_hot = one_hot.expand(*key.shape[:-2], -1, -1)
    output, weights = (F.scaled_dot_product_attention(query, key, values, scale=1.0) for values in (value, one_hot))
    return output, weights


class SelfAttention(nn.Module):
    """PyTorch's unscaled attention of x to itself, with the layers W_q, W_k and W_v."""

    def __init__(self, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__()
        for name, width in zip(("W_q", "W_k", "W_v"), (d_k, d_k, d_v), strict=True):
            self.add_module(name, nn.Linear(d_model, width, bias=False))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (..., T, D) -> output (..., T, Dv) and weights (..., T, T)"""
        query, key, value = (self.get_submodule(name)(x) for name in ("W_q", "W_k", "W_v"))
        return attention(query, key, value)
