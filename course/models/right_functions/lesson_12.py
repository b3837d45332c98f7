"""Right functions for two sequences."""

from __future__ import annotations

from collections.abc import Callable
from heapq import nlargest
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from .lesson_06 import Heads

__all__ = ["CrossAttention", "EncoderDecoder", "alignment_error", "beam_search", "patches", "teacher_inputs"]


class CrossAttention(Heads):
    """PyTorch's attention with heads, whose keys and values come from another sequence."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_k=1, W_v=1, W_o=1)

    def forward(self, x: Tensor, source: Tensor, source_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), source (B, S, D), source_mask (B, S) -> output (B, T, D), weights (B, H, T, S)."""
        mask = None if source_mask is None else source_mask[:, None, None]
        return self.attend(self.heads("W_q", x), self.heads("W_k", source), self.heads("W_v", source), mask)


def teacher_inputs(targets: Tensor, begin: int) -> Tensor:
    """PyTorch's padding of targets (B, T): one column in front, the last one dropped."""
    return F.pad(targets, (1, -1), value=begin)


class EncoderDecoder(nn.Module):
    """An encoder and a decoder, called one after the other."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.halves = nn.ModuleList([encoder, decoder])

    def encode(self, source: Tensor, source_mask: Tensor | None = None) -> Any:
        """The encoder's output."""
        return self.halves[0](source, source_mask)

    def decode(self, targets_in: Tensor, memory: Any, source_mask: Tensor | None = None) -> Tensor:
        """The decoder's output."""
        logits: Tensor = self.halves[-1](targets_in, memory, source_mask)
        return logits

    def forward(self, source: Tensor, targets_in: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """source (B, S), targets_in (B, T), source_mask (B, S) -> logits (B, T, N)."""
        memory = self.encode(source, source_mask)
        return self.decode(targets_in, memory, source_mask)


def alignment_error(weights: Tensor, alignment: Tensor) -> Tensor:
    """Error rate of weights (T, S) among the targets (T,) with a source, by PyTorch's topk; 0 if there are none."""
    known = alignment.ge(0)
    missed = weights.topk(1, dim=-1).indices[:, 0].ne(alignment) & known
    return missed.sum().to(weights.dtype) / known.sum().clamp(min=1)


def beam_search(step: Callable[[list[int]], Tensor], begin: int, end: int, width: int, max_length: int) -> list[int]:
    """The ids of the best sequence by the mean log-probability, by heapq's nlargest. Raises ValueError."""
    for name, number in {"width": width, "max_length": max_length}.items():
        if number < 1:
            raise ValueError(f"{name} is {number}, and must be at least 1")
    beam, ended = [(0.0, [begin])], list[tuple[float, list[int]]]()
    for _ in range(max_length):
        longer = ((total + p, [*ids, i]) for total, ids in beam for i, p in enumerate(step(ids).tolist()))
        kept = nlargest(width, longer)
        ended += [one for one in kept if one[1][-1] == end]
        beam = [one for one in kept if one[1][-1] != end]
    return max(ended + beam, key=lambda one: one[0] / (len(one[1]) - 1))[1]


def patches(images: Tensor, size: int) -> Tensor:
    """PyTorch's pixel unshuffle: (B, C, H, W) -> (B, H/size * W/size, C * size**2). Raises ValueError."""
    if size < 1 or images.shape[-2] % size or images.shape[-1] % size:
        raise ValueError(f"size is {size}, and does not divide both sides of images of shape {tuple(images.shape)}")
    return F.pixel_unshuffle(images, size).flatten(2).transpose(1, 2)
