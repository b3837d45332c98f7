"""Training on a task that needs the order of words: to name the token before each token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TOKENS, WIDTH, HEADS = 8, 32, 2  # each text has all tokens once
ORDERS = ("all positions 0", "in order")


@dataclass
class Namer:
    """A trained attention with a layer that names the token before, and the losses of its training."""

    attention: nn.Module
    readout: nn.Module
    losses: list[float]

    def logits(self, ids: Tensor, positions: Tensor) -> Tensor:
        """ids, int64 (B, TOKENS), at these positions (TOKENS,) -> logits (B, TOKENS, TOKENS)."""
        vectors = 4 * torch.eye(TOKENS, WIDTH)[ids]
        logits: Tensor = self.readout(self.attention(vectors, positions)[0])
        return logits

    @torch.no_grad()
    def named_at(self, start: int) -> float:
        """The share of tokens that it names rightly in 200 new texts that begin at the position `start`."""
        ids = shuffled(200, torch.Generator().manual_seed(5))
        named = self.logits(ids, start + torch.arange(TOKENS))[:, 1:].argmax(-1)
        return (named == ids[:, :-1]).float().mean().item()


def shuffled(count: int, generator: torch.Generator) -> Tensor:
    """Texts (count, TOKENS), each with all tokens in random order."""
    return torch.rand(count, TOKENS, generator=generator).argsort(-1)


def train_to_name_the_one_before(attention: Callable[[int, int], nn.Module], order: str, steps: int = 200) -> Namer:
    """Train `attention(d_model, n_heads)` with its positions "in order", or with "all positions 0"."""
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}; it must be one of {', '.join(map(repr, ORDERS))}")
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Namer(attention(WIDTH, HEADS), nn.Linear(WIDTH, TOKENS), [])
    positions = torch.arange(TOKENS) * (order == "in order")
    optimizer = torch.optim.Adam([*model.attention.parameters(), *model.readout.parameters()], lr=1e-2)
    for _ in range(steps):
        ids = shuffled(32, generator)
        loss = F.cross_entropy(model.logits(ids, positions)[:, 1:].flatten(0, 1), ids[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.losses.append(loss.item())
    return model
