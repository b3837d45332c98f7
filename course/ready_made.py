"""What stands in for the learner's own functions until those pass: the lessons' pictures are drawn with it.

These ask PyTorch, in ways that the exercises do not allow, or read the answer off the picture's own words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn


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
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


class _Heads(nn.Module):
    """PyTorch's attention in several heads between linear layers without biases, each so many times as wide as high."""

    def __init__(self, d_model: int, n_heads: int, **widths: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        for name, times in widths.items():
            self.add_module(name, nn.Linear(d_model, times * d_model, bias=False))

    def attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """query (B, H, T, K), key and value (B, H, S, K) -> output (B, T, D), weights (B, H, T, S)."""
        output, weights = masked_attention(query, key, value, mask)
        return self.get_submodule("W_o")(torch.cat(output.unbind(1), dim=-1)), weights

    def heads(self, packed: torch.Tensor) -> torch.Tensor:
        """(B, T, D) -> (B, H, T, D / H)"""
        return torch.stack(packed.tensor_split(self.n_heads, dim=-1), dim=1)


class MultiHeadAttention(_Heads):
    """PyTorch's attention in place of the exercise's class: the same names, arguments and results, without dropout."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_k=1, W_v=1, W_o=1)

    def forward(
        self, x: torch.Tensor, context: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x (B, T, D), context (B, S, D), mask broadcasts to (B, H, T, S) -> output (B, T, D), weights (B, H, T, S)."""
        source = x if context is None else context
        query, key, value = (
            self.heads(self.get_submodule(name)(of)) for name, of in (("W_q", x), ("W_k", source), ("W_v", source))
        )
        return self.attend(query, key, value, mask)


class RotarySelfAttention(_Heads):
    """PyTorch's attention in place of the exercise's class; queries and keys are turned by matrix exponentials."""

    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0) -> None:
        super().__init__(d_model, n_heads, W_qkv=3, W_o=1)
        self.base = base

    def forward(
        self, x: torch.Tensor, positions: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x (B, T, D), positions (T,), mask broadcasts to (B, H, T, T) -> output (B, T, D), weights (B, H, T, T)."""
        query, key, value = map(self.heads, self.get_submodule("W_qkv")(x).tensor_split(3, dim=-1))
        places = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        turns = turning(places.to(x), query.shape[-1], self.base)
        query, key = (torch.einsum("tde,bhte->bhtd", turns, one) for one in (query, key))
        return self.attend(query, key, value, mask)


def turning(positions: torch.Tensor, dim: int, base: float = 10000.0) -> torch.Tensor:
    """The rotation of each position (T,) as a matrix, (T, dim, dim): the exponential of its angles."""
    speeds = base ** (-torch.arange(0, dim, 2).to(positions) / dim)
    quarter = positions.new_tensor([[0.0, -1.0], [1.0, 0.0]])
    return torch.matrix_exp(positions[:, None, None] * torch.kron(speeds.diag(), quarter))
