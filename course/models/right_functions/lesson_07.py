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
    "scaled_frequencies",
    "to_half_split",
]


def is_order_blind(attention: Callable[[Tensor], Tensor], x: Tensor, permutation: Tensor) -> bool:
    """Whether permuting the rows of x (T, D) only permutes the output, by PyTorch's allclose."""
    return torch.allclose(attention(x[permutation]), attention(x)[permutation], rtol=0.0, atol=1e-3)


def rope_frequencies(dim: int, base: float = 10000.0) -> Tensor:
    """Radians per position of each pair, float32 (dim / 2,), by logspace.

    Raises ValueError for an odd dim.
    """
    if dim % 2:
        raise ValueError(f"expected an even dim, got {dim}")
    last = math.log10(base) * (2 / dim - 1)
    return torch.logspace(0, last, dim // 2, dtype=torch.float64).float()


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate x (..., T, dim) by its positions (T,), by PyTorch's product of complex numbers."""
    dim = x.shape[-1]
    speeds = base ** (torch.arange(0, dim, 2, dtype=torch.float64, device=x.device) / -dim)
    angles = positions.to(x.device, torch.float64)[:, None] * speeds
    turns = torch.polar(torch.ones_like(angles), angles).to(x.dtype.to_complex())
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).clone(memory_format=torch.contiguous_format))
    turned: Tensor = torch.view_as_real(pairs * turns).flatten(-2)
    return turned


def to_half_split(x: Tensor) -> Tensor:
    """Neighbouring pairs of x (..., dim) as halves, by a transposed view."""
    halves: Tensor = x.unflatten(-1, (-1, 2)).transpose(-2, -1).flatten(-2)
    return halves


class RotarySelfAttention(Heads):
    """PyTorch's attention with heads whose queries and keys are rotated."""

    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0) -> None:
        super().__init__(d_model, n_heads, W_qkv=3, W_o=1)
        self.base = base

    def forward(self, x: Tensor, positions: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), positions (T,), mask broadcasts to (B, H, T, T) -> output (B, T, D), weights (B, H, T, T)."""
        packed = self.get_submodule("W_qkv")(x).unflatten(-1, (3, self.n_heads, -1))
        query, key, value = packed.transpose(1, 3).unbind(2)
        places = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        return self.attend(apply_rope(query, places, self.base), apply_rope(key, places, self.base), value, mask)


def scaled_frequencies(
    dim: int, method: str, factor: float, length: float, base: float = 10000.0, low: float = 1.0, high: float = 32.0
) -> Tensor:
    """Radians per position of each pair for longer texts, float32 (dim / 2,), by logspace and lerp.

    Raises ValueError for an unknown method.
    """
    if method not in ("base", "interpolation", "yarn"):
        raise ValueError(f"method is {method!r}; it must be 'base', 'interpolation' or 'yarn'")
    speeds = rope_frequencies(dim, base).double()
    if method == "base":
        return (speeds / torch.logspace(0, math.log10(factor), len(speeds), dtype=torch.float64)).float()
    rounds = length * speeds / math.tau
    share = rounds.sub(low).div(high - low).clip(0, 1) if method == "yarn" else rounds.new_zeros(len(rounds))
    return torch.lerp(speeds / factor, speeds, share).float()
