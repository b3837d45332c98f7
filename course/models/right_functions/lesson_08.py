"""Right functions for training."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["TransformerBlock", "generate", "language_model_loss", "train_step"]


def language_model_loss(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Tensor:
    """PyTorch's cross-entropy of logits (B, T, N) and targets (B, T), 0 where none counts."""
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
    return total / (targets != ignore_index).sum().clamp(min=1)


class TransformerBlock(nn.Module):
    """An attention and SwiGLU, each of what `rms_norm` makes of its input, and added to it; no biases."""

    def __init__(self, attention: nn.Module, d_model: int, hidden: int) -> None:
        super().__init__()
        self.attention = attention
        self.gain_1, self.gain_2 = (nn.Parameter(torch.full((d_model,), 1.0)) for _ in range(2))
        sizes = {"gate": (d_model, hidden), "up": (d_model, hidden), "down": (hidden, d_model)}
        for name, (wide, out) in sizes.items():
            self.add_module(f"W_{name}", nn.Linear(wide, out, bias=False))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (B, T, D), mask as attention takes it -> (B, T, D)."""
        layer = self.get_submodule
        x = x + self.attention(rms_norm(x, self.gain_1), mask=mask)[0]
        y = rms_norm(x, self.gain_2)
        result: Tensor = x + layer("W_down")(F.silu(layer("W_gate")(y)) * layer("W_up")(y))
        return result


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    """x / sqrt(mean(x²) + 1e-6) * gain over the last dimension, by hypot."""
    size = torch.linalg.vector_norm(x, dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    return x / torch.hypot(size, x.new_tensor(1e-3)) * gain


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


def generate(
    model: nn.Module,
    prompt: Tensor,
    n_tokens: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue a prompt (B, T) by n_tokens, drawn by PyTorch's multinomial, or the likeliest at temperature 0."""
    training = [part for part in model.modules() if part.training]
    size: Any = model.block_size
    model.eval()
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(prompt[:, -int(size) :])[:, -1].cpu()
        if temperature:
            drawn = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
        else:
            drawn = torch.topk(logits, 1).indices
        prompt = torch.hstack([prompt, drawn.to(prompt.device)])
    for part in training:
        part.training = True
    return prompt
