"""Fallbacks for the learner's functions, used in figures until those pass.

They call PyTorch functions that the exercises forbid, or read the answer off the figure's own words.

Does not cover: fallbacks that do all that an exercise asks (`course/models/exercise_fallbacks.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's unscaled attention: output (..., T, V) and weights (..., T, S).

    The built-in does not return weights, but with an identity matrix as values its output is the weights.
    """
    one_hot = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)
    one_hot = one_hot.expand(*key.shape[:-2], -1, -1)
    output, weights = (F.scaled_dot_product_attention(query, key, values, scale=1.0) for values in (value, one_hot))
    return output, weights


def projections(x: torch.Tensor, *matrices: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """x (..., D) times each matrix (D, width), by PyTorch's linear layer."""
    return tuple(F.linear(x, matrix.mT) for matrix in matrices)


def causal_mask(T: int, S: int | None = None, device: torch.device | str | None = None) -> torch.Tensor:
    """PyTorch's causal mask, bool (T, S), True = blocked: the last T rows of (S, S).

    Raises ValueError if S < T.
    """
    if S is not None and S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    square = torch.nn.Transformer.generate_square_subsequent_mask(T if S is None else S)
    return square[-T:].to(device) < 0


def padding(texts: Sequence[Sequence[str]], width: int) -> torch.Tensor:
    """The padding mask, bool (B, 1, 1, width), of texts padded to `width` words."""
    filled = [[*text, *(width - len(text)) * [None]] for text in texts]
    return torch.tensor([[[[word is None for word in text]]] for text in filled])


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """PyTorch's softmax with a mask: attention with an identity as keys and values."""
    identity = torch.eye(scores.shape[-1], dtype=scores.dtype, device=scores.device)
    identity = identity.expand(*scores.shape[:-2], -1, -1)
    seen = F.scaled_dot_product_attention(scores, identity, identity, attn_mask=~torch.atleast_2d(mask), scale=1.0)
    return seen.masked_fill(mask, 0.0)  # PyTorch before 2.5: NaN where a whole row is blocked


def masked_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's attention, blocked where `mask` is True, and its weights."""
    if mask is None:
        mask = torch.zeros(1, 1, dtype=torch.bool, device=query.device)
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, T, D) -> (B, H, T, D / H). Raises ValueError unless n_heads divides D."""
    if n_heads <= 0 or x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {x.shape[-1]}, the width of x")
    return torch.stack(x.tensor_split(n_heads, dim=-1), dim=1)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """(B, H, T, K) -> (B, T, H * K)"""
    return torch.cat(x.unbind(1), dim=-1)


class _Heads(nn.Module):
    """PyTorch's attention with heads; `widths` are the layers' sizes over d_model."""

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
        return self.get_submodule("W_o")(merge_heads(output)), weights

    def heads(self, packed: torch.Tensor) -> torch.Tensor:
        """(B, T, D) -> (B, H, T, D / H)"""
        return split_heads(packed, self.n_heads)


class MultiHeadAttention(_Heads):
    """A fallback for the exercise's class with the same interface, without dropout."""

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
    """A fallback for the exercise's class, which rotates by matrix exponentials."""

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
        query, key = (torch.einsum("tde,bhte->bhtd", turns, vectors) for vectors in (query, key))
        return self.attend(query, key, value, mask)


def turning(positions: torch.Tensor, dim: int, base: float = 10000.0) -> torch.Tensor:
    """Rotations of positions (T,) as matrices (T, dim, dim), by matrix exponentials."""
    speeds = base ** (-torch.arange(0, dim, 2).to(positions) / dim)
    quarter = positions.new_tensor([[0.0, -1.0], [1.0, 0.0]])
    return torch.matrix_exp(positions[:, None, None] * torch.kron(speeds.diag(), quarter))


def cache_bytes(
    n_layers: int, n_kv_heads: int, d_head: int, length: int, batch_size: int = 1, element_bytes: int = 2
) -> int:
    """Bytes of a cache, from a tensor of its shape on the device "meta"."""
    cache = torch.empty(n_layers, 2, batch_size, n_kv_heads, length, d_head, device="meta")
    return cache.numel() * element_bytes


def append_to_cache(
    cache: tuple[torch.Tensor, torch.Tensor] | None, key: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
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
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, cache: tuple[torch.Tensor, torch.Tensor] | None = None
) -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """PyTorch's causal attention to cached and new keys: output, weights, new cache."""
    key, value = append_to_cache(cache, key, value)
    return *masked_attention(query, key, value, causal_mask(query.shape[-2], key.shape[-2], query.device)), (key, value)


def generate_with_cache(model: nn.Module, prompt: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """The likeliest next tokens (B, T + n_tokens), without the use of a cache: each call reads all tokens again."""
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(prompt, model.new_cache(*prompt.shape), 0)  # type: ignore[operator]
        prompt = torch.cat([prompt, logits[:, -1:].argmax(-1)], 1)
    return prompt


def sliding_window_mask(
    T: int, window: int, S: int | None = None, device: torch.device | str | None = None
) -> torch.Tensor:
    """PyTorch's sliding window mask (T, S): causal, and keys at least `window` back."""
    S = T if S is None else S
    past = ~causal_mask(T, S, device)  # shifted by the window, it marks keys that are too far back
    return ~past | torch.cat([past, past.new_zeros(T, window)], -1)[:, window:]


def mean_heads(weight: torch.Tensor, n_heads: int, n_groups: int) -> torch.Tensor:
    """PyTorch's average pooling over each group's heads: (H * K, D) -> (G * K, D)."""
    heads = weight.reshape(n_heads, -1).T[None]  # (1, K * D, H)
    return F.avg_pool1d(heads, n_heads // n_groups)[0].T.reshape(-1, weight.shape[1])


class GroupedQueryAttention(_Heads):
    """A fallback for the exercise's class with the same interface."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_o=1)
        self.n_groups = n_groups
        for name in ("W_k", "W_v"):
            self.add_module(name, nn.Linear(d_model, n_groups * d_model // n_heads, bias=False))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """x (B, T, D), mask broadcasts to (B, H, T, T) -> output (B, T, D), weights (B, H, T, T)."""
        query = self.heads(self.get_submodule("W_q")(x))
        return self.attend(query, self.shared("W_k", x), self.shared("W_v", x), mask)

    def shared(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """Keys or values, repeated for the heads: (B, T, D) -> (B, H, T, D / H)."""
        groups = self.get_submodule(name)(x).tensor_split(self.n_groups, dim=-1)
        return torch.stack([groups[head * self.n_groups // self.n_heads] for head in range(self.n_heads)], dim=1)


def logsumexp(scores: torch.Tensor) -> torch.Tensor:
    """PyTorch's log-sum-exp over the last dimension: (..., S) -> (...)."""
    empty = scores.isneginf().all(-1)  # PyTorch's gradient there is NaN
    return torch.logsumexp(scores.masked_fill(empty.unsqueeze(-1), 0.0), dim=-1).masked_fill(empty, -torch.inf)


def partial_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's softmax and log-sum-exp of the scores: output (..., T, V), lse (..., T)."""
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    scores = scores if mask is None else scores.masked_fill(mask, -torch.inf)
    return shares(scores) @ value, logsumexp(scores)


def shares(scores: torch.Tensor) -> torch.Tensor:
    """PyTorch's softmax over the last dimension, and zeros where every score is -inf."""
    empty = scores.isneginf().all(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)


def merge(
    output: torch.Tensor, lse: torch.Tensor, other_output: torch.Tensor, other_lse: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge two results of `partial_attention`, by PyTorch's softmax and log-sum-exp."""
    both = torch.stack([lse, other_lse], dim=-1)
    mine, other = shares(both).split(1, dim=-1)
    return mine * output + other * other_output, logsumexp(both)


def tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None, tile: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's attention, which is tiled itself, and the log-sum-exp tile by tile."""
    if mask is not None:  # figures with a mask are small
        return partial_attention(query, key, value, mask)
    keys = key.split(tile, dim=-2)
    lse = logsumexp(torch.stack([logsumexp(query @ k.transpose(-2, -1) * query.shape[-1] ** -0.5) for k in keys], -1))
    q, k, v = (x[(None,) * (4 - x.ndim)] for x in (query, key, value))  # PyTorch's tiles need batches of heads
    output = F.scaled_dot_product_attention(q, k, v)
    return output.reshape(*query.shape[:-1], value.shape[-1]), lse


def causal_tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, tile: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's causal attention and the log-sum-exp, for all queries at once."""
    return partial_attention(query, key, value, causal_mask(query.shape[-2], device=query.device))


def tiled_backward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    output: torch.Tensor,
    lse: torch.Tensor,
    grad_output: torch.Tensor,
    tile: int = 64,
) -> tuple[torch.Tensor, ...]:
    """The gradients of query, key and value by PyTorch's attention and autograd."""
    with torch.enable_grad():
        q, k, v = (x.detach().requires_grad_() for x in (query, key, value))
        found = F.scaled_dot_product_attention(q, k, v)
    return torch.autograd.grad(found, (q, k, v), grad_output)


def without_heads(head_outputs: torch.Tensor, heads: Sequence[int], mean: torch.Tensor | None = None) -> torch.Tensor:
    """(B, H, T, K) with these heads at zero, by a 1x1 convolution; `mean` is ignored."""
    n_heads = head_outputs.shape[1]
    through = torch.stack([torch.eye(n_heads)[h] * (h not in heads) for h in range(n_heads)]).to(head_outputs)
    return F.conv2d(head_outputs, through[:, :, None, None])


def circuit(W_q: torch.Tensor, W_k: torch.Tensor, head: int, n_heads: int) -> torch.Tensor:
    """A head's unscaled scores of all pairs of unit vectors, (D, D), by linear layers."""
    units = torch.eye(W_q.shape[-1], dtype=W_q.dtype, device=W_q.device)
    query, key = (F.linear(units, W).tensor_split(n_heads, dim=-1)[head] for W in (W_q, W_k))
    return query @ key.mT


class CrossAttention(_Heads):
    """A fallback for lesson 12's class: keys and values come from another sequence."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_k=1, W_v=1, W_o=1)

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, source_mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x (B, T, D), source (B, S, D), source_mask (B, S) -> output (B, T, D), weights (B, H, T, S)."""
        query, key, value = (
            self.heads(self.get_submodule(name)(of)) for name, of in (("W_q", x), ("W_k", source), ("W_v", source))
        )
        if source_mask is None:
            source_mask = source.new_zeros(source.shape[:2], dtype=torch.bool)
        return self.attend(query, key, value, source_mask[:, None, None])


def teacher_inputs(targets: torch.Tensor, begin: int) -> torch.Tensor:
    """PyTorch's padding of targets (B, T): one column in front, the last one dropped."""
    return F.pad(targets, (1, -1), value=begin)


class EncoderDecoder(nn.ModuleList):
    """An encoder and a decoder in an nn.ModuleList, called one after the other."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__([encoder, decoder])

    def encode(self, *given: torch.Tensor | None) -> torch.Tensor:
        """The encoder's output."""
        memory: torch.Tensor = self[0](*given)
        return memory

    def decode(self, *given: torch.Tensor | None) -> torch.Tensor:
        """The decoder's output."""
        logits: torch.Tensor = self[-1](*given)
        return logits

    def forward(
        self, source: torch.Tensor, targets_in: torch.Tensor, source_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """source (B, S), targets_in (B, T), source_mask (B, S) -> logits (B, T, N)."""
        memory = self.encode(source, source_mask)
        return self.decode(targets_in, memory, source_mask)


def alignment_error(weights: torch.Tensor, alignment: torch.Tensor) -> torch.Tensor:
    """Error rate of weights (T, S) by PyTorch's nll_loss; -1 in alignment is ignored."""
    certain = F.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype)
    return 1 + F.nll_loss(certain, alignment, ignore_index=-1)


def patches(images: torch.Tensor, size: int) -> torch.Tensor:
    """PyTorch's pixel unshuffle: (B, C, H, W) -> (B, H/size * W/size, C * size**2)."""
    return F.pixel_unshuffle(images, size).flatten(2).transpose(1, 2)
