"""Right functions for dot products."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["cosine_similarity", "dot", "most_similar", "similarity_scores"]


def dot(a: Tensor, b: Tensor) -> Tensor:
    """PyTorch's dot product of two vectors (K,). Raises ValueError for other shapes."""
    if a.ndim != 1 or b.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"a {tuple(a.shape)} and b {tuple(b.shape)} must be two vectors of one length")
    return torch.dot(a, b)


def cosine_similarity(a: Tensor, b: Tensor) -> Tensor:
    """PyTorch's cosine similarity over the last dimension; 0 for a vector of zeros."""
    return F.cosine_similarity(a, b, dim=-1, eps=torch.finfo(a.dtype).tiny)


def similarity_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Scores (..., T, S) of queries (..., T, K) and keys (..., S, K), by PyTorch's einsum."""
    return torch.einsum("...tk,...sk->...ts", queries, keys)


def most_similar(queries: Tensor, keys: Tensor) -> Tensor:
    """For each query (..., T, K), the index of the key (..., S, K) with the highest cosine: int64 (..., T)."""
    return torch.argmax(cosine_similarity(queries[..., :, None, :], keys[..., None, :, :]), dim=-1)
