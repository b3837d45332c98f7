"""Training on random tokens, of which nothing can be learned: a loss below the logarithm of their number is a leak."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TOKENS, LENGTH, WIDTH = 8, 12, 32  # different tokens, positions, entries of a vector
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def blocked_by_a_number(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal attention whose open scores begin near −9,996, while blocked ones are set to −10,000 instead of −∞."""
    scores = query @ key.transpose(-2, -1) * WIDTH**-0.5 - 9_996
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(later, -10_000), dim=-1) @ value


class Guesser(nn.Module):
    """One attention layer that predicts the next token at each position; `attend` decides who sees whom.

    attend  (query, key, value), each (B, T, D) -> output (B, T, D)
    """

    def __init__(self, attend: Attend) -> None:
        super().__init__()
        self.attend = attend
        self.tokens, self.positions = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.W_q, self.W_k, self.W_v = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.guess = nn.Linear(WIDTH, TOKENS)

    def forward(self, ids: Tensor) -> Tensor:
        """ids, int64 (B, LENGTH) -> logits (B, LENGTH, TOKENS)."""
        x = self.tokens(ids) + self.positions.weight
        logits: Tensor = self.guess(x + self.attend(self.W_q(x), self.W_k(x), self.W_v(x)))
        return logits


def random_texts(count: int, generator: torch.Generator) -> Tensor:
    """Ids (count, LENGTH + 1): each position but the last has its answer after it."""
    return torch.randint(TOKENS, (count, LENGTH + 1), generator=generator)


def train_on_noise(attend: Attend, steps: int = 250, seed: int = 0) -> tuple[Guesser, list[float]]:
    """A model trained on texts that are drawn at random for every step, and its loss at each step."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Guesser(attend)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        ids = random_texts(64, generator)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses
