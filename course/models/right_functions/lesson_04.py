"""Right functions for scaling."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from .lesson_03 import attention

__all__ = ["ScaledDotProductAttention", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """PyTorch's attention, scaled by 1 / √Dk unless `scale` is given, and its weights."""
    return attention(query * (query.shape[-1] ** -0.5 if scale is None else scale), key, value)


class ScaledDotProductAttention(nn.Module):
    """PyTorch's attention, with its dropout on the weights in training mode."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """query (..., T, Dk), key (..., S, Dk), value (..., S, Dv) -> output (..., T, Dv), weights (..., T, S)."""
        weights = F.dropout(scaled_dot_product_attention(query, key, value)[1], self.dropout, self.training)
        return weights @ value, weights
