"""Right functions for training."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import announce
from .lesson_05 import causal_mask, masked_attention
from .lesson_06 import merge_heads, split_heads
from .lesson_07 import apply_rope

__all__ = [
    "ModernBlock",
    "TransformerBlock",
    "evaluate",
    "generate",
    "get_batch",
    "language_model_loss",
    "learning_rate",
    "train",
    "train_step",
]


def get_batch(
    data: Tensor, block_size: int, batch_size: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Random windows of data (N,) and the same one token later, by PyTorch's unfold.

    Both are (batch, block). Raises ValueError if data is too short.
    """
    if len(data) <= block_size:
        raise ValueError(f"block_size {block_size} is too long for data of shape {tuple(data.shape)}")
    windows = data.unfold(0, block_size + 1, 1)
    drawn = windows[torch.randint(len(windows), (batch_size,), generator=generator).to(data.device)]
    return drawn[:, :-1], drawn[:, 1:]


def language_model_loss(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Tensor:
    """PyTorch's cross-entropy of logits (B, T, N) and targets (B, T), 0 where none counts."""
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
    return total / (targets != ignore_index).sum().clamp(min=1)


class TransformerBlock(nn.Module):
    """PyTorch's pre-norm block of attention and an mlp, with its parts by the exercise's names."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = (nn.LayerNorm(d_model) for _ in range(2))
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        wide = 4 * d_model
        self.mlp = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (B, T, D), mask (T, T), True = blocked -> (B, T, D)."""
        y = self.norm_1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        result: Tensor = x + self.mlp(self.norm_2(x))
        return result


class ModernBlock(nn.Module):
    """A block of causal attention with RoPE and of SwiGLU, without biases, from parts of lessons 05 to 07."""

    def __init__(self, d_model: int, n_heads: int, hidden: int, rotates: bool = True) -> None:
        super().__init__()
        self.n_heads, self.rotates = n_heads, rotates
        self.gain_1, self.gain_2 = (nn.Parameter(torch.full((d_model,), 1.0)) for _ in range(2))
        sizes = dict.fromkeys("qkvo", (d_model, d_model))
        sizes |= {"gate": (d_model, hidden), "up": (d_model, hidden), "down": (hidden, d_model)}
        for name, (wide, out) in sizes.items():
            self.add_module(f"W_{name}", nn.Linear(wide, out, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        layer, y, T = self.get_submodule, rms_norm(x, self.gain_1), x.shape[1]
        query, key, value = (split_heads(layer(f"W_{letter}")(y), self.n_heads) for letter in "qkv")
        if self.rotates:
            query, key = (apply_rope(heads, torch.arange(T, device=x.device)) for heads in (query, key))
        x = x + layer("W_o")(merge_heads(masked_attention(query, key, value, causal_mask(T).to(x.device))[0]))
        y = rms_norm(x, self.gain_2)
        result: Tensor = x + layer("W_down")(F.silu(layer("W_gate")(y)) * layer("W_up")(y))
        return result


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    """x / sqrt(mean(x²) + 1e-6) * gain over the last dimension, by hypot."""
    size = torch.linalg.vector_norm(x, dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    return x / torch.hypot(size, x.new_tensor(1e-3)) * gain


def learning_rate(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """PyTorch's linear warm-up and cosine schedule.

    Raises ValueError unless 0 <= warmup < total.
    """
    announce()
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * (step + 1.0) / warmup
    turned = math.pi * min(step - warmup, total - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(turned)) / 2


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor) -> float:
    """One optimizer step with PyTorch's loss and clipping to norm 1; the loss before it."""
    model.train()
    model.zero_grad()
    predicted = model(inputs)
    loss = language_model_loss(predicted, targets)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return loss.item()


def evaluate(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    """PyTorch's cross-entropy of a model in eval mode; each part's mode is then restored."""
    training = [part for part in model.modules() if part.training]
    with torch.inference_mode():
        loss = language_model_loss(model.eval()(inputs), targets)
    for part in training:
        part.training = True
    return loss.item()


def generate(
    model: nn.Module,
    prompt: Tensor,
    n_tokens: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue a prompt (B, T) by n_tokens, drawn by PyTorch's multinomial, or the likeliest at temperature 0."""
    training = [part for part in model.modules() if part.training]
    model.eval()
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(prompt[:, -_block_size(model) :])[:, -1].cpu()
        if temperature:
            drawn = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
        else:
            drawn = torch.topk(logits, 1).indices
        prompt = torch.hstack([prompt, drawn.to(prompt.device)])
    for part in training:
        part.training = True
    return prompt


def _block_size(model: nn.Module) -> int:
    size: Any = model.block_size
    return int(size)


def train(
    model: nn.Module, data: Tensor, steps: int, batch_size: int, generator: torch.Generator, peak: float = 3e-3
) -> list[float]:
    """The losses of a training by AdamW with a schedule, on random windows of data (N,)."""
    optimizer = torch.optim.AdamW(model.parameters())
    losses = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = learning_rate(step, steps // 10, steps, peak)
        windows = get_batch(data, _block_size(model), batch_size, generator)
        losses.append(train_step(model, optimizer, *windows))
    return losses
