"""Right functions for scaling."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .lesson_01 import similarity_scores
from .lesson_03 import attention

__all__ = ["ScaledDotProductAttention", "scaled_dot_product_attention", "score_std", "softmax_gradient_norm"]


def score_std(query: Tensor, key: Tensor) -> Tensor:
    """The population standard deviation of the unscaled scores of (..., T, K) and (..., S, K), by PyTorch's std."""
    return torch.std_mean(similarity_scores(query, key), correction=0)[0]


def softmax_gradient_norm(scores: Tensor) -> Tensor:
    """The Frobenius norm of softmax's Jacobian at scores (S,), by PyTorch's addr."""
    weights = torch.softmax(scores, dim=-1)
    norm: Tensor = torch.addr(weights.diag(), weights, weights, alpha=-1).norm()
    return norm


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """PyTorch's attention, scaled by 1 / √K unless `scale` is given, and its weights."""
    return attention(query * (query.shape[-1] ** -0.5 if scale is None else scale), key, value)


class ScaledDotProductAttention(nn.Module):
    """PyTorch's attention, with its dropout on the weights in training mode."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """query (..., T, K), key (..., S, K), value (..., S, V) -> output (..., T, V), applied weights (..., T, S)."""
        weights = F.dropout(scaled_dot_product_attention(query, key, value)[1], self.dropout, self.training)
        return weights @ value, weights
