"""Right functions for attention in tiles."""

from __future__ import annotations

from functools import reduce

import torch
from torch import Tensor

from .lesson_05 import causal_mask

__all__ = [
    "causal_tiled_attention",
    "logsumexp_of",
    "merge",
    "partial_attention",
    "tiled_attention",
    "tiled_backward",
]
Result = tuple[Tensor, Tensor]  # output (..., T, V), log-sum-exp (..., T)


def logsumexp_of(scores: Tensor) -> Tensor:
    """PyTorch's log-sum-exp over the last dimension: (..., S) -> (...)."""
    empty = scores.isneginf().all(-1)  # PyTorch's gradient there is NaN
    return torch.logsumexp(scores.masked_fill(empty.unsqueeze(-1), 0.0), dim=-1).masked_fill(empty, -torch.inf)


def shares(scores: Tensor) -> Tensor:
    """PyTorch's softmax over the last dimension, and zeros where every score is -inf."""
    empty = scores.isneginf().all(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)


def partial_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Result:
    """PyTorch's softmax and log-sum-exp of the scores: output (..., T, V), lse (..., T)."""
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    scores = scores if mask is None else scores.masked_fill(mask, -torch.inf)
    return shares(scores) @ value, logsumexp_of(scores)


def merge(output: Tensor, lse: Tensor, other_output: Tensor, other_lse: Tensor) -> Result:
    """Merge two results of `partial_attention`, by PyTorch's softmax and log-sum-exp."""
    both = torch.stack([lse, other_lse], dim=-1)
    mine, other = shares(both).split(1, dim=-1)
    return mine * output + other * other_output, logsumexp_of(both)


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, tile: int = 64) -> Result:
    """`partial_attention` of each `tile` keys, merged. Raises ValueError if tile < 1."""
    _hold_tile(tile)
    keys, values = key.split(tile, dim=-2), value.split(tile, dim=-2)
    masks = [None] * len(keys) if mask is None else mask.expand(*mask.shape[:-1], key.shape[-2]).split(tile, dim=-1)
    parts = (partial_attention(query, k, v, blocked) for k, v, blocked in zip(keys, values, masks, strict=True))
    return reduce(lambda one, other: merge(*one, *other), parts)


def causal_tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int = 64) -> Result:
    """`partial_attention` of blocks of at most tile x tile, merged; later keys are skipped. Raises ValueError."""
    _hold_tile(tile)
    rows = []
    for last, queries in enumerate(query.split(tile, dim=-2)):
        pairs = list(zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True))[: last + 1]
        masks = [None] * last + [causal_mask(queries.shape[-2]).to(query.device)]
        parts = (partial_attention(queries, k, v, blocked) for (k, v), blocked in zip(pairs, masks, strict=True))
        rows.append(reduce(lambda one, other: merge(*one, *other), parts))
    return torch.cat([output for output, _ in rows], dim=-2), torch.cat([lse for _, lse in rows], dim=-1)


def tiled_backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, lse: Tensor, grad_output: Tensor, tile: int = 64
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value, from `tile` keys at a time."""
    _hold_tile(tile)
    scale, of_tiles, grad_query = query.shape[-1] ** -0.5, [], torch.zeros_like(query)
    lost = torch.linalg.vecdot(grad_output, output).unsqueeze(-1)
    tiles = zip(torch.split(key, tile, -2), torch.split(value, tile, -2), strict=True)
    for k, v in tiles:
        weights = (query @ k.mT * scale - lse.unsqueeze(-1)).exp()
        slopes = (grad_output @ v.mT - lost) * weights * scale
        grad_query = grad_query + slopes @ k
        of_tiles.append((slopes.mT @ query, weights.mT @ grad_output))
    grad_key, grad_value = (torch.cat(parts, dim=-2) for parts in zip(*of_tiles, strict=True))
    return grad_query, grad_key, grad_value


def _hold_tile(tile: int) -> None:
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
