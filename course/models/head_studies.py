"""Heads for lesson 06 to draw, silence and train, in cells whose code is not the learner's."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .right_functions.lesson_06 import Heads, merge_heads, split_heads
from .small_lm import SmallLM

HeadMatrices = tuple[Tensor, Tensor, Tensor]
WORDS, LENGTH, WIDTH, HEADS = 16, 8, 32, 4  # of the three tasks: different words, positions, entries of a vector, heads
Attention = Callable[[int, int], nn.Module]
Task = Callable[[Tensor], tuple[Tensor, Tensor, Tensor | None]]

# ids (B, LENGTH + 1) -> inputs and targets (B, LENGTH), mask
TASKS: dict[str, Task] = {
    "copy": lambda ids: (ids[:, :-1], ids[:, :-1], None),
    "reverse": lambda ids: (ids[:, :-1], ids[:, :-1].flip(1), None),
    "predict": lambda ids: (ids[:, :-1], ids[:, 1:], torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)),
}


def two_random_heads(x: Tensor) -> tuple[Tensor, list[HeadMatrices], Tensor]:
    """Widen the words x (T, 3), and return them with two heads for them, always the same ones.

    X (T, 8); for each head W_q, W_k, W_v (8, 4); W_o (8, 8). Matrices are used as x @ W, and W_q is three times as
    large as the others, so that weights are less even.
    """
    generator = torch.Generator().manual_seed(6)

    def matrix(rows: int, columns: int) -> Tensor:
        """Return a matrix that keeps the size of what it is multiplied with."""
        return torch.randn(rows, columns, generator=generator) / math.sqrt(rows)

    wide = x @ matrix(3, 8)
    heads = [(3 * matrix(8, 4), matrix(8, 4), matrix(8, 4)) for _ in range(2)]
    return wide, heads, matrix(8, 8)


def loss_without(lm: SmallLM, layer: int, heads: list[int]) -> float:
    """Return the model's loss on held-out stories while these heads of a layer are silent; [] silences none."""
    calls = itertools.count()  # the model merges once in each layer

    def merge_without(found: Tensor) -> Tensor:
        if next(calls) == layer:
            found = found.index_fill(1, torch.tensor(heads, dtype=torch.int64), 0.0)
        return merge_heads(found)

    with contextlib.redirect_stdout(io.StringIO()):
        return lm.compare(merge=merge_without)[0]


class MergedByReshape(Heads):
    """Multi-head attention whose heads are merged without the transpose; every shape is right."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__(d_model, n_heads, W_q=1, W_k=1, W_v=1, W_o=1)

    def forward(self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, None]:
        """x (B, T, D), mask (T, T) -> output (B, T, D)."""
        q, k, v = (split_heads(self.get_submodule(name)(x), self.n_heads) for name in ("W_q", "W_k", "W_v"))
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else ~mask)
        return self.get_submodule("W_o")(found.reshape(x.shape)), None  # in memory head after head, not word after word


def learn_three_tasks(attention: Attention, steps: int = 150) -> dict[str, dict[str, list[float]]]:
    """Train an attention, and one with a wrong merge, in each of TASKS: the losses, by task and layer."""
    layers = {"right": attention, "wrong merge": MergedByReshape}
    return {name: {which: _learn(make, task, steps) for which, make in layers.items()} for name, task in TASKS.items()}


def _learn(make: Attention, task: Task, steps: int) -> list[float]:
    """Train embedding, attention and read-out on one task; return the losses."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        words, positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        attention, read = make(WIDTH, HEADS), nn.Linear(WIDTH, WORDS)
    parts = nn.ModuleList([words, positions, attention, read])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        inputs, targets, mask = task(torch.randint(WORDS, (64, LENGTH + 1), generator=generator))
        output, _ = attention(words(inputs) + positions.weight, mask=mask)
        loss = F.cross_entropy(read(output).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
