"""Right functions for attention in one sitting."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .lesson_03 import attention

__all__ = ["attend_all", "attend_by_roles", "attend_once", "past_weights", "rooted_scores"]


def attend_once(query: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Scores (T,), weights (T,) and context (D,) of one query (D,) over the rows of x (T, D)."""
    output, weights = attention(query[None], x, x)
    return torch.mv(x, query), weights[0], output[0]


def attend_all(x: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's unscaled attention of x (T, D) to itself: output (T, D) and weights (T, T)."""
    return attention(x, x, x)


def attend_by_roles(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's unscaled attention of x (T, D) in three roles: output (T, Dv) and weights (T, T)."""
    return attention(*(torch.mm(x, matrix) for matrix in (W_q, W_k, W_v)))


def rooted_scores(q: Tensor, k: Tensor) -> Tensor:
    """The scores (T, T) of queries and keys (T, Dk), divided by the root of Dk."""
    return torch.einsum("tk,sk->ts", q, k) / math.sqrt(q.shape[-1])


def past_weights(scores: Tensor) -> Tensor:
    """The softmax of each row of scores (T, T) up to the diagonal; 0 to the right of it."""
    past = torch.ones_like(scores, dtype=torch.bool).tril()
    return torch.softmax(torch.where(past, scores, -torch.inf), dim=-1)
