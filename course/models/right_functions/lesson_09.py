"""Right functions for the cache and its price."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .lesson_05 import last_queries_mask, masked_attention
from .lesson_06 import Heads

__all__ = [
    "GroupedQueryAttention",
    "append_to_cache",
    "attend_with_cache",
    "cache_bytes",
    "generate_with_cache",
    "mean_heads",
    "sliding_window_mask",
]
Cache = tuple[Tensor, Tensor]


def cache_bytes(
    n_layers: int, n_kv_heads: int, d_head: int, length: int, batch_size: int = 1, element_bytes: int = 2
) -> int:
    """Bytes of a cache, from a tensor of its shape on the device "meta". Raises ValueError for a number below 0."""
    numbers = locals()
    if wrong := [f"{name} is {number}" for name, number in numbers.items() if number < 0]:
        raise ValueError(f"{wrong[0]}, which is below 0")
    cache = torch.empty(n_layers, 2, batch_size, n_kv_heads, length, d_head, device="meta")
    return cache.numel() * element_bytes


def append_to_cache(cache: Cache | None, key: Tensor, value: Tensor) -> Cache:
    """Append keys and values (B, H, T, ...) to the cached ones, by PyTorch's cat.

    Raises ValueError for other shapes.
    """
    if cache is None:
        return key, value
    for name, old, new in (("key", cache[0], key), ("value", cache[1], value)):
        if old.select(-2, 0).shape != new.select(-2, 0).shape:
            raise ValueError(f"{name} is {tuple(new.shape)}, which does not follow {tuple(old.shape)} in the cache")
    keys, values = (torch.cat(both, -2) for both in zip(cache, (key, value), strict=True))
    return keys, values


def attend_with_cache(
    query: Tensor, key: Tensor, value: Tensor, cache: Cache | None = None
) -> tuple[Tensor, Tensor, Cache]:
    """PyTorch's causal attention to cached and new keys: output, weights, new cache."""
    key, value = append_to_cache(cache, key, value)
    mask = last_queries_mask(query.shape[-2], key.shape[-2]).to(query.device)
    return *masked_attention(query, key, value, mask), (key, value)


def generate_with_cache(model: nn.Module, prompt: Tensor, n_tokens: int) -> Tensor:
    """The likeliest next tokens of a model with a cache: (B, T + n_tokens)."""
    B, T = prompt.shape
    pieces, cache = [prompt], model.new_cache(B, T + n_tokens)  # type: ignore[operator]
    for n in range(n_tokens):
        with torch.no_grad():
            logits = model(pieces[-1], cache, T + n - pieces[-1].shape[1])
        pieces.append(torch.topk(logits[:, -1], 1).indices)
    return torch.hstack(pieces)


def sliding_window_mask(T: int, window: int, S: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """PyTorch's sliding window mask (T, S): causal, and keys at least `window` back.

    Raises ValueError if S < T, or window < 1.
    """
    if window < 1:
        raise ValueError(f"window is {window}, and must be at least 1")
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    past = ~last_queries_mask(T, S).to(device)  # shifted by the window, it marks keys that are too far back
    return ~past | torch.cat([past, past.new_zeros(T, window)], -1)[:, window:]


def mean_heads(weight: Tensor, n_heads: int, n_groups: int) -> Tensor:
    """PyTorch's average pooling over each group's heads: (H * K, D) -> (G * K, D). Raises ValueError."""
    if n_heads < 1 or len(weight) / n_heads % 1:
        raise ValueError(f"n_heads is {n_heads}, and does not divide {len(weight)} rows")
    _hold_groups(n_heads, n_groups)
    heads = weight.reshape(n_heads, -1).T[None]  # (1, K * D, H)
    return F.avg_pool1d(heads, n_heads // n_groups)[0].T.reshape(-1, weight.shape[1])


def _hold_groups(n_heads: int, n_groups: int) -> None:
    if n_groups < 1 or n_heads % n_groups:
        raise ValueError(f"n_groups is {n_groups}, and does not divide n_heads, {n_heads}")


class GroupedQueryAttention(Heads):
    """PyTorch's attention in which groups of heads share keys and values. Raises ValueError."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_o=1)
        _hold_groups(n_heads, n_groups)
        self.n_groups = n_groups
        for name in ("W_k", "W_v"):
            self.add_module(name, nn.Linear(d_model, n_groups * d_model // n_heads, bias=False))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), mask broadcasts to (B, H, T, T) -> output (B, T, D), weights (B, H, T, T)."""
        return self.attend(self.heads("W_q", x), self._shared("W_k", x), self._shared("W_v", x), mask)

    def _shared(self, name: str, x: Tensor) -> Tensor:
        """Keys or values, repeated for the heads: (B, T, D) -> (B, H, T, K)."""
        groups = self.get_submodule(name)(x).tensor_split(self.n_groups, dim=-1)
        return torch.stack([groups[head * self.n_groups // self.n_heads] for head in range(self.n_heads)], dim=1)
