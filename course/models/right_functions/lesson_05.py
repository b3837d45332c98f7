"""Right functions for masks."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["causal_mask", "last_queries_mask", "masked_attention", "sees_the_future"]


def causal_mask(T: int) -> Tensor:
    """PyTorch's causal mask, bool (T, T), True = blocked."""
    return torch.nn.Transformer.generate_square_subsequent_mask(T) < 0


def last_queries_mask(T: int, S: int) -> Tensor:
    """The last T rows of PyTorch's causal mask for S positions, bool (T, S)."""
    return torch.nn.Transformer.generate_square_subsequent_mask(S)[-T:] < 0


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """PyTorch's softmax with a mask: attention with an identity as keys and values."""
    identity = torch.eye(scores.shape[-1], dtype=scores.dtype, device=scores.device)
    identity = identity.expand(*scores.shape[:-2], -1, -1)
    seen = F.scaled_dot_product_attention(scores, identity, identity, attn_mask=~torch.atleast_2d(mask), scale=1.0)
    return seen.masked_fill(mask, 0.0)  # PyTorch before 2.5: NaN where a whole row is blocked


def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """PyTorch's attention, blocked where `mask` is True, and its weights."""
    if mask is None:
        mask = torch.zeros(1, 1, dtype=torch.bool, device=query.device)
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


def sees_the_future(attention: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Whether an output of `attention`, (T, D) -> (T, D), depends on a later row of x, by one gradient per entry."""
    x = x.clone().detach().requires_grad_(True)
    with torch.enable_grad():
        outputs = attention(x)
    for i, row in enumerate(outputs if outputs.requires_grad else ()):
        for entry in row:
            (gradient,) = torch.autograd.grad(entry, x, retain_graph=True, allow_unused=True)
            if gradient is not None and bool((gradient[i + 1 :].abs() > 1e-5).any()):
                return True
    return False
