"""Right functions for several heads."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .lesson_05 import masked_attention

__all__ = ["HeadLayers", "MultiHeadAttention", "merge_heads", "split_heads"]


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, T, D) -> (B, H, T, D / H). Raises ValueError unless n_heads divides D."""
    if n_heads <= 0 or x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {x.shape[-1]}, the width of x")
    return torch.stack(x.tensor_split(n_heads, dim=-1), dim=1)


def merge_heads(x: Tensor) -> Tensor:
    """(B, H, T, Dv) -> (B, T, H * Dv)"""
    return torch.cat(x.unbind(1), dim=-1)


class HeadLayers(nn.Module):
    """Four layers without bias, and dropout. Raises ValueError unless n_heads is at least 1 and divides d_model."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if n_heads <= 0 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        for letter in "qkvo":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)


class Heads(nn.Module):
    """PyTorch's attention with heads; `widths` are the layers' sizes over d_model.

    Raises ValueError unless n_heads is at least 1 and divides d_model.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, **widths: int) -> None:
        super().__init__()
        if n_heads <= 0 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        self.n_heads, self.dropout = n_heads, dropout
        for name, times in widths.items():
            self.add_module(name, nn.Linear(d_model, times * d_model, bias=False))

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """query (B, H, T, Dk), key (B, H, S, Dk), value (B, H, S, Dv) -> output (B, T, D), weights (B, H, T, S)."""
        output, weights = masked_attention(query, key, value, mask)
        if self.dropout and self.training:
            weights = F.dropout(weights, self.dropout)
            output = weights @ value
        return self.get_submodule("W_o")(merge_heads(output)), weights

    def heads(self, name: str, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, H, T, Dk), by the layer of this name."""
        return split_heads(self.get_submodule(name)(x), self.n_heads)


class MultiHeadAttention(Heads):
    """PyTorch's attention with heads, over x or from x to a context."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout, W_q=1, W_k=1, W_v=1, W_o=1)

    def forward(self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), context (B, S, D), mask broadcasts to (B, H, T, S) -> output (B, T, D), weights (B, H, T, S)."""
        source = x if context is None else context
        return self.attend(self.heads("W_q", x), self.heads("W_k", source), self.heads("W_v", source), mask)
