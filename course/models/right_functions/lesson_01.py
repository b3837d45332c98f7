"""Right functions for dot products."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["cosine_similarity", "dot", "most_similar", "similarity_scores"]


def dot(a: Tensor, b: Tensor) -> Tensor:
    """PyTorch's dot product of two vectors (D,)."""
    return torch.dot(a, b)


def cosine_similarity(a: Tensor, b: Tensor) -> Tensor:
    """PyTorch's cosine similarity over the last dimension."""
    return F.cosine_similarity(a, b, dim=-1, eps=torch.finfo(a.dtype).tiny)


def similarity_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Scores (..., T, S) of queries (..., T, D) and keys (..., S, D), by PyTorch's einsum."""
    return torch.einsum("...tk,...sk->...ts", queries, keys)


def most_similar(queries: Tensor, keys: Tensor) -> Tensor:
    """For each query (..., T, D), the index of the key (..., S, D) with the highest cosine: int64 (..., T)."""
    return torch.argmax(cosine_similarity(queries[..., :, None, :], keys[..., None, :, :]), dim=-1)
