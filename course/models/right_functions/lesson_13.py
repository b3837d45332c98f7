"""Right functions for cheaper attention.

They compute in other ways than the exercises ask: with keys in full, or with a search in place of a list.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .lesson_05 import masked_attention
from .lesson_06 import merge_heads, split_heads
from .lesson_07 import apply_rope
from .lesson_08 import rms_norm
from .lesson_09 import sliding_window_mask
from .lesson_10 import shares

__all__ = [
    "MultiHeadLatentAttention",
    "PagedCache",
    "absorbed_attention",
    "qk_norm_scores",
    "quantize",
    "sink_window_mask",
    "soft_cap",
]


def qk_norm_scores(query: Tensor, key: Tensor, gain_q: Tensor, gain_k: Tensor) -> Tensor:
    """Scores (..., T, S) of queries and keys divided by their root mean squares, times 1/√K."""
    return rms_norm(query, gain_q) @ rms_norm(key, gain_k).transpose(-2, -1) / math.sqrt(query.shape[-1])


def soft_cap(scores: Tensor, cap: float) -> Tensor:
    """Scores between -cap and cap; -inf stays. Raises ValueError unless cap > 0."""
    if not cap > 0:
        raise ValueError(f"cap is {cap}, and must be greater than 0")
    return scores.div(cap).tanh().mul(cap).masked_fill(scores.isneginf(), -torch.inf)


class MultiHeadLatentAttention(nn.Module):
    """Latent attention with joined keys, by the built-in masked attention. Raises ValueError."""

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, and does not divide d_model, {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope is {d_rope}, and must be even and at least 0")
        self.n_heads, self.d_rope = n_heads, d_rope
        sizes = {"q": (d_model, d_model), "qr": (d_model, n_heads * d_rope), "c": (d_model, d_latent)}
        sizes |= {"k": (d_latent, d_model), "v": (d_latent, d_model), "kr": (d_model, d_rope), "o": (d_model, d_model)}
        for name, (wide, out) in sizes.items():
            self.add_module(f"W_{name}", nn.Linear(wide, out, bias=False))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x (B, T, D), mask broadcasts to (B, H, T, T) -> output (B, T, D), weights (B, H, T, T)."""
        latent, positions = self.get_submodule("W_c")(x), torch.arange(x.shape[1], device=x.device)
        query = split_heads(self.get_submodule("W_q")(x), self.n_heads)
        key, value = (split_heads(self.get_submodule(f"W_{name}")(latent), self.n_heads) for name in "kv")
        if self.d_rope:
            turned = apply_rope(split_heads(self.get_submodule("W_qr")(x), self.n_heads), positions)
            shared = apply_rope(self.get_submodule("W_kr")(x), positions)[:, None].expand_as(turned)
            query, key = torch.cat([query, turned], -1), torch.cat([key, shared], -1)
        output, weights = masked_attention(query, key, value, mask)
        return self.get_submodule("W_o")(merge_heads(output)), weights


def absorbed_attention(
    query: Tensor, latent: Tensor, W_k: Tensor, W_v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention to latents (B, S, C), one head after another: output (B, H, T, K), weights (B, H, T, S)."""
    width = query.shape[-1]
    of_keys, of_values = W_k.split(width), W_v.split(width)
    heads = zip(query.unbind(1), of_keys, strict=True)
    scores = torch.stack([(q @ to_key) @ latent.mT * width**-0.5 for q, to_key in heads], dim=1)
    weights = shares(scores if mask is None else scores.masked_fill(mask, -torch.inf))
    outputs = [w @ latent @ to_value.T for w, to_value in zip(weights.unbind(1), of_values, strict=True)]
    return torch.stack(outputs, dim=1), weights


def sink_window_mask(
    T: int, window: int, sinks: int, S: int | None = None, device: torch.device | str | None = None
) -> Tensor:
    """The sliding window's mask (T, S), in which the columns of the sinks are open for later queries.

    Raises ValueError if S < T, window < 1, or sinks < 0.
    """
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}, and must be at least 0")
    S = T if S is None else S
    mask = sliding_window_mask(T, window, S, device)
    mask[:, :sinks] = sliding_window_mask(T, max(S, 1), S, device)[:, :sinks]
    return mask


class PagedCache:
    """Pages for several texts; which pages are free is found by looking at all tables.

    keys, values  (n_pages, page_size, G, K) each, float32

    Raises ValueError unless all numbers are at least 1.
    """

    def __init__(self, n_pages: int, page_size: int, n_kv_heads: int, d_head: int) -> None:
        sizes = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        if wrong := [name for name, size in sizes.items() if size < 1]:
            raise ValueError(f"{wrong[0]} is {sizes[wrong[0]]}, and must be at least 1")
        self.keys, self.values = torch.zeros(2, *sizes.values(), dtype=torch.float32)
        self._texts: dict[int, tuple[list[int], int]] = {}
        self._made = 0

    def _free(self) -> list[int]:
        used = {page for pages, _ in self._texts.values() for page in pages}
        return sorted(set(range(len(self.keys))) - used)

    @property
    def n_free(self) -> int:
        """The number of free pages."""
        free = self._free()
        return len(free)

    def new(self) -> int:
        """The id of a new, empty text."""
        self._made += 1
        self._texts[self._made] = ([], 0)
        return self._made

    def append(self, text: int, key: Tensor, value: Tensor) -> None:
        """Write rows one after another; all or none, by counting the pages first.

        Raises KeyError for an unknown text, ValueError for a wrong shape, MemoryError if too few pages are free.
        """
        pages, length = self._texts[text]
        for name, rows in {"key": key, "value": value}.items():
            if not len(rows) or rows.shape != (len(key), *self.keys.shape[2:]):
                raise ValueError(f"{name} is {tuple(rows.shape)}; expected (T, G, K), with one T for both")
        size = self.keys.shape[1]
        shared = bool(length % size) and sum(pages[-1] in of for of, _ in self._texts.values()) > 1
        free, needed = self._free(), -(-(length + len(key)) // size) - len(pages) + shared
        if needed > len(free):
            raise MemoryError(f"{needed} pages are needed, and {len(free)} are free")
        pages = list(pages)
        if shared:
            old, pages[-1] = pages[-1], free.pop(0)
            self.keys[pages[-1]], self.values[pages[-1]] = self.keys[old], self.values[old]
        for row_key, row_value in zip(key.detach(), value.detach(), strict=True):
            if length % size == 0:
                pages.append(free.pop(0))
            self.keys[pages[-1], length % size], self.values[pages[-1], length % size] = row_key, row_value
            length += 1
        self._texts[text] = (pages, length)

    def read(self, text: int) -> tuple[Tensor, Tensor]:
        """Keys and values (S, G, K) of a text."""
        pages, length = self._texts[text]
        keys, values = (
            torch.cat([pool[:0].flatten(0, 1), *(pool[p] for p in pages)]) for pool in (self.keys, self.values)
        )
        return keys[:length], values[:length]

    def fork(self, text: int) -> int:
        """A new text on the same pages."""
        pages, length = self._texts[text]
        twin = self.new()
        self._texts[twin] = (list(pages), length)
        return twin

    def free(self, text: int) -> None:
        """Forget a text."""
        del self._texts[text]

    def table(self, text: int) -> list[int]:
        """The pages of a text."""
        return list(self._texts[text][0])


def quantize(x: Tensor, dim: int | tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Codes from -127 to 127 and their scale, by the norm of infinite order."""
    scale = torch.linalg.vector_norm(x.detach(), ord=torch.inf, dim=dim, keepdim=True).div(127)
    return (x.detach() / scale).nan_to_num(0.0).round().to(torch.int8), scale
