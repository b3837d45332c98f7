"""Right functions for RoPE."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from .lesson_06 import Heads

__all__ = [
    "RotarySelfAttention",
    "apply_rope",
    "is_order_blind",
    "rope_frequencies",
]


def is_order_blind(attention: Callable[[Tensor], Tensor], x: Tensor, permutation: Tensor) -> bool:
    """Whether permuting the rows of x (T, D) only permutes the output, by PyTorch's allclose."""
    return torch.allclose(attention(x[permutation]), attention(x)[permutation], rtol=0.0, atol=1e-3)


def rope_frequencies(dim: int, base: float = 10000.0) -> Tensor:
    """Radians per position of each pair, float32 (dim / 2,), by logspace."""
    last = math.log10(base) * (2 / dim - 1)
    return torch.logspace(0, last, dim // 2, dtype=torch.float64).float()


def apply_rope(x: Tensor, positions: Tensor, frequencies: Tensor | None = None) -> Tensor:
    """Rotate x (..., T, dim) by its positions (T,), by PyTorch's product of complex numbers."""
    dim = x.shape[-1]
    if frequencies is None:
        frequencies = 10000.0 ** (torch.arange(0, dim, 2, dtype=torch.float64, device=x.device) / -dim)
    angles = positions.to(x.device, torch.float64)[:, None] * frequencies
    turns = torch.polar(torch.ones_like(angles), angles).to(x.dtype.to_complex())
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).clone(memory_format=torch.contiguous_format))
    turned: Tensor = torch.view_as_real(pairs * turns).flatten(-2)
    return turned


class RotarySelfAttention(Heads):
    """PyTorch's attention with heads whose queries and keys are rotated."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_k=1, W_v=1, W_o=1)

    def forward(self, x: Tensor, positions: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), positions (T,), mask broadcasts to (B, H, T, T) -> output (B, T, D), weights (B, H, T, T)."""
        places = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        query, key = (apply_rope(self.heads(name, x), places) for name in ("W_q", "W_k"))
        return self.attend(query, key, self.heads("W_v", x), mask)
