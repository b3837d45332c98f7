"""Right functions for queries, keys and values."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["attention", "embed", "project_qkv", "query_for", "simple_attention"]


def embed(token_ids: Tensor, table: Tensor) -> Tensor:
    """PyTorch's embedding: ids (...), table (N, D) -> (..., D)."""
    return F.embedding(token_ids, table)


def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's unscaled attention: output (..., T, V) and weights (..., T, S).

    The built-in does not return weights, but with an identity matrix as values its output is the weights.
    """
    one_hot = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)
    one_hot = one_hot.expand(*key.shape[:-2], -1, -1)
    output, weights = (F.scaled_dot_product_attention(query, key, values, scale=1.0) for values in (value, one_hot))
    return output, weights


def simple_attention(x: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's unscaled attention of x (..., T, D) to itself."""
    return attention(x, x, x)


def project_qkv(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, ...]:
    """x (..., D) times each matrix (D, width), by PyTorch's linear layer."""
    return tuple(F.linear(x, matrix.mT) for matrix in (W_q, W_k, W_v))


def query_for(keys: Tensor, targets: Sequence[int]) -> Tensor:
    """The shortest query (K,) whose scores with keys (S, K) are 20 for the targets and 0 for all others."""
    scores = torch.zeros(len(keys), 1, dtype=keys.dtype, device=keys.device)
    scores[list(targets)] = 20.0
    query: Tensor = torch.linalg.lstsq(keys.detach(), scores).solution[:, 0]
    return query
