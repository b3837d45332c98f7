"""Fallbacks for whole exercises, which `check` uses instead of wrong earlier answers.

Each has its exercise's name and signature and meets the whole contract, mostly by PyTorch functions that the exercise
forbids. There is one for each exercise on which a later one of its lesson is likely to build.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from .torch_fallbacks import (
    append_to_cache,
    attend_with_cache,
    attention,
    causal_mask,
    masked_attention,
    masked_softmax,
    merge,
    merge_heads,
    partial_attention,
    projections,
    split_heads,
    teacher_inputs,
)
from .torch_fallbacks import logsumexp as logsumexp_of

__all__ = [
    "append_to_cache",
    "apply_rope",
    "attend_with_cache",
    "attention",
    "causal_mask",
    "cosine_similarity",
    "dot",
    "embed",
    "evaluate",
    "get_batch",
    "language_model_loss",
    "learning_rate",
    "log_softmax",
    "logsumexp_of",
    "masked_attention",
    "masked_softmax",
    "merge",
    "merge_heads",
    "padding_mask",
    "partial_attention",
    "project_qkv",
    "rope_frequencies",
    "scaled_dot_product_attention",
    "scaled_frequencies",
    "similarity_scores",
    "simple_attention",
    "softmax",
    "softmax_with_temperature",
    "split_heads",
    "split_qkv",
    "teacher_inputs",
    "train_step",
]


def dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """PyTorch's dot product of two vectors (K,). Raises ValueError for other shapes."""
    if a.ndim != 1 or b.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"a {tuple(a.shape)} and b {tuple(b.shape)} must be two vectors of one length")
    return torch.dot(a, b)


def cosine_similarity(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """PyTorch's cosine similarity over the last dimension; 0 for a vector of zeros."""
    return F.cosine_similarity(a, b, dim=-1, eps=torch.finfo(a.dtype).tiny)


def similarity_scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Scores (..., T, S) of queries (..., T, K) and keys (..., S, K), by PyTorch's einsum."""
    return torch.einsum("...tk,...sk->...ts", queries, keys)


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """PyTorch's softmax along any dimension."""
    return torch.softmax(x, dim)


def log_softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """PyTorch's logarithm of the softmax along any dimension."""
    return torch.log_softmax(x, dim)


def softmax_with_temperature(x: torch.Tensor, temperature: float, dim: int = -1) -> torch.Tensor:
    """PyTorch's softmax of x / temperature. Raises ValueError unless temperature > 0."""
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x.div(temperature), dim=dim)


def embed(token_ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """PyTorch's embedding: ids (...), table (N, D) -> (..., D)."""
    return F.embedding(token_ids, table)


def simple_attention(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's unscaled attention of x (..., T, D) to itself."""
    return attention(x, x, x)


def project_qkv(x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The exercise's own signature for `projections`."""
    return projections(x, W_q, W_k, W_v)


def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's attention, scaled by 1 / √K unless `scale` is given, and its weights."""
    return attention(query * (query.shape[-1] ** -0.5 if scale is None else scale), key, value)


def padding_mask(lengths: torch.Tensor, S: int) -> torch.Tensor:
    """The padding mask, bool (B, 1, 1, S), of lengths (B,), by PyTorch's bucketize."""
    positions = torch.arange(S, device=lengths.device)
    return torch.bucketize(lengths, positions)[:, None, None, None] <= positions


def rope_frequencies(dim: int, base: float = 10000.0) -> torch.Tensor:
    """Radians per position of each pair, float32 (dim / 2,), by logspace.

    Raises ValueError for an odd dim.
    """
    if dim % 2:
        raise ValueError(f"expected an even dim, got {dim}")
    last = math.log10(base) * (2 / dim - 1)
    return torch.logspace(0, last, dim // 2, dtype=torch.float64).float()


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Rotate x (..., T, dim) by its positions (T,), by PyTorch's product of complex numbers."""
    dim = x.shape[-1]
    speeds = base ** (torch.arange(0, dim, 2, dtype=torch.float64, device=x.device) / -dim)
    angles = positions.to(x.device, torch.float64)[:, None] * speeds
    turns = torch.polar(torch.ones_like(angles), angles).to(x.dtype.to_complex())
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).clone(memory_format=torch.contiguous_format))
    return torch.view_as_real(pairs * turns).flatten(-2)


def scaled_frequencies(
    dim: int, method: str, factor: float, length: float, base: float = 10000.0, low: float = 1.0, high: float = 32.0
) -> torch.Tensor:
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


def get_batch(
    data: torch.Tensor, block_size: int, batch_size: int, generator: torch.Generator | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random windows of data (N,) and the same one token later, by PyTorch's unfold.

    Both are (batch, block).
    """
    if len(data) <= block_size:
        raise ValueError(f"block_size {block_size} is too long for data of shape {tuple(data.shape)}")
    windows = data.unfold(0, block_size + 1, 1)
    drawn = windows[torch.randint(len(windows), (batch_size,), generator=generator).to(data.device)]
    return drawn[:, :-1], drawn[:, 1:]


def language_model_loss(logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100) -> torch.Tensor:
    """PyTorch's cross-entropy of logits (B, T, N) and targets (B, T), 0 where none counts."""
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
    return total / (targets != ignore_index).sum().clamp(min=1)


def learning_rate(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """PyTorch's linear warm-up and cosine schedule.

    Raises ValueError unless 0 <= warmup < total.
    """
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1.0) / warmup
    turned = math.pi * min(step - warmup, total - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(turned)) / 2


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, targets: torch.Tensor
) -> float:
    """One optimizer step with PyTorch's loss and clipping to norm 1; the loss before it."""
    model.train()
    model.zero_grad()
    predicted = model(inputs)
    loss = language_model_loss(predicted, targets)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return loss.item()


def evaluate(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """PyTorch's cross-entropy of a model in eval mode; each part's mode is then restored."""
    training = [part for part in model.modules() if part.training]
    with torch.inference_mode():
        loss = language_model_loss(model.eval()(inputs), targets)
    for part in training:
        part.training = True
    return loss.item()


def split_qkv(weight: torch.Tensor, bias: torch.Tensor) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
    """A fused layer's weight (D, 3 * D) and bias (3 * D,) as three layers', by unflatten."""
    weights, biases = weight.unflatten(1, (3, -1)).permute(1, 2, 0), bias.unflatten(0, (3, -1))
    return tuple((W.clone(), b.clone()) for W, b in zip(weights, biases, strict=True))
