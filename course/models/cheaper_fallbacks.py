"""Fallbacks for the exercises of lesson 13, used in figures until the learner's pass.

They compute in other ways than the exercises ask: head by head, with keys in full, or with a search in place of a list.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .exercise_fallbacks import apply_rope
from .torch_fallbacks import masked_attention, masked_softmax, merge_heads, sliding_window_mask, split_heads


def qk_norm_scores(query: Tensor, key: Tensor, gain_q: Tensor, gain_k: Tensor) -> Tensor:
    """Scores (..., T, S) of queries and keys divided by their root mean squares, times 1/√K."""
    width = query.shape[-1]
    q, k = (F.normalize(x, dim=-1, eps=1e-3) * gain for x, gain in ((query, gain_q), (key, gain_k)))
    scores: Tensor = torch.einsum("...tk,...sk->...ts", q, k) * width**0.5
    return scores


def soft_cap(scores: Tensor, cap: float) -> Tensor:
    """Scores between -cap and cap, by a sigmoid; -inf stays."""
    return torch.where(scores.isneginf(), scores, cap * (2 * torch.sigmoid(2 * scores / cap) - 1))


class MultiHeadLatentAttention(nn.Module):
    """Latent attention with joined keys, by the built-in masked attention."""

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
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
    heads = zip(query.unbind(1), W_k.split(width), W_v.split(width), strict=True)
    scores, ways_back = [], []
    for of_head, to_key, to_value in heads:
        scores.append(of_head @ to_key @ latent.mT * width**-0.5)
        ways_back.append(to_value.T)
    stacked = torch.stack(scores, dim=1)
    blocked = torch.zeros(1, 1, dtype=torch.bool, device=query.device) if mask is None else mask
    weights = masked_softmax(stacked, blocked)
    outputs = [w @ latent @ back for w, back in zip(weights.unbind(1), ways_back, strict=True)]
    return torch.stack(outputs, dim=1), weights


def sink_window_mask(
    T: int, window: int, sinks: int, S: int | None = None, device: torch.device | str | None = None
) -> Tensor:
    """The sliding window's mask (T, S), in which the columns of the sinks are open for later queries."""
    S = T if S is None else S
    causal = sliding_window_mask(T, S, S, device)
    mask = sliding_window_mask(T, window, S, device)
    mask[:, :sinks] = causal[:, :sinks]
    return mask


class PagedCache:
    """Pages for several texts; which pages are free is found by looking at all tables."""

    def __init__(self, n_pages: int, page_size: int, n_kv_heads: int, d_head: int) -> None:
        self.keys, self.values = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head)
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
        """Write rows one after another; all or none, by counting the pages first."""
        pages, length = self._texts[text]
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
