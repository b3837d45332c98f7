"""What stands in for the learner's own functions until those pass: the lessons' pictures are drawn with it.

These ask PyTorch, in ways that the exercises do not allow, or read the answer off the picture's own words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's unscaled attention: output (..., T, V) and weights (..., T, S).

    The built-in does not return its weights. With an identity matrix for values its output is the weights.
    """
    one_hot = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)
    one_hot = one_hot.expand(*key.shape[:-2], -1, -1)
    output, weights = (F.scaled_dot_product_attention(query, key, values, scale=1.0) for values in (value, one_hot))
    return output, weights


def projections(x: torch.Tensor, *matrices: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """x (..., D) through each matrix (D, width) by PyTorch's linear layer, which wants them as (width, D)."""
    return tuple(F.linear(x, matrix.mT) for matrix in matrices)


def causal_mask(T: int, S: int | None = None, device: torch.device | str | None = None) -> torch.Tensor:
    """PyTorch's causal mask as bool (T, S), True = blocked: the last T rows of that for S positions."""
    square = torch.nn.Transformer.generate_square_subsequent_mask(T if S is None else S)
    return square[-T:].to(device) < 0


def padding(texts: Sequence[Sequence[str]], width: int) -> torch.Tensor:
    """Where a batch of texts, filled up to `width` words, holds no word: bool (B, 1, 1, width), read off the words."""
    filled = [[*text, *(width - len(text)) * [None]] for text in texts]
    return torch.tensor([[[[word is None for word in text]]] for text in filled])


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """PyTorch's masked softmax: its attention with the scores as queries and the identity as keys and values."""
    identity = torch.eye(scores.shape[-1], dtype=scores.dtype, device=scores.device)
    identity = identity.expand(*scores.shape[:-2], -1, -1)
    seen = F.scaled_dot_product_attention(scores, identity, identity, attn_mask=~mask, scale=1.0)
    return seen.masked_fill(mask, 0.0)  # PyTorch before 2.5: NaN where a whole row is blocked


def masked_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's attention, blocked where `mask` is True, and its weights: `(output, weights)`."""
    if mask is None:
        mask = torch.zeros((), dtype=torch.bool, device=query.device)
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    return masked_softmax(scores, mask) @ value, masked_softmax(scores, mask)
