"""A model whose heads have planted jobs, measured with some of them removed: lesson 11."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import index

import torch
from torch import Tensor

BEGIN, SHARP, CROWDED = 0, 40.0, 1.5
JOBS = ("previous", "induction", "backup", "distance", "unused", "question", "idle")


class PlantedCircuits:
    """An attention-only model reads a text twice; a call returns its loss there without some heads.

    `loss_without(heads)` takes pairs (layer, head) and returns the mean loss, in nats, on the letters that come again.
    The text is token 0, the letters of `text` twice, and token `n_tokens - 1`, a question. The jobs of the heads:

    previous R    writes the letter before into relay R, a part of the stream, where one writer is as good as several
    induction R   looks where relay R has its own letter, and writes the letter there to the output
    backup R      likewise, but only while the output is empty
    distance      finds the letter to write by counting back, without any other head
    unused R      looks like an induction head, and writes where nothing reads
    question      at the question it writes the first letter to the output; elsewhere it rests on token 0
    idle          looks at everything, and writes where nothing reads

    jobs       L lists of H jobs
    text       int64 (period,), different letters from 1 to n_tokens - 2
    strengths  (L, H): by how much a head raises the logit of the letter that it looks at
    looks      (L, H): the weight, between 0 and 1, of an induction head on what it looks for; token 0 gets the rest
    known      by how much the logit of the right letter is raised without any head

    A silent model gives the question's logit `CROWDED` and all others 0, so its loss is above `chance`, that of
    guessing evenly. Scores are so sharp that a silent head changes the loss by less than 1e-6; losses are
    rounded to that.
    """

    def __init__(
        self,
        jobs: Sequence[Sequence[str]],
        text: Tensor,
        n_tokens: int,
        strengths: Tensor,
        looks: Tensor,
        known: float = 0.0,
    ) -> None:
        self.jobs, self.period, self.n_tokens = jobs, len(text), n_tokens
        self.ids = torch.cat([torch.tensor([BEGIN]), text, text, torch.tensor([n_tokens - 1])])  # (T,)
        self.n_relays = 2 + max(int(job.partition(" ")[2] or 0) for row in jobs for job in row)  # the last one is spare
        self.width = n_tokens * (2 + self.n_relays) + len(self.ids)
        strengths, looks = strengths.double(), looks.double()
        circuits = [
            [self._circuits(job, float(strengths[layer, h]), float(looks[layer, h])) for h, job in enumerate(row)]
            for layer, row in enumerate(jobs)
        ]
        self.looking = torch.stack([torch.stack([looking for looking, _ in row]) for row in circuits])  # (L, H, D, D)
        self.writing = torch.stack([torch.stack([writing for _, writing in row]) for row in circuits])
        self.embedded = torch.zeros(len(self.ids), self.width, dtype=torch.float64)  # (T, D)
        here = torch.arange(len(self.ids))
        self.embedded[here, self.ids] = 1.0
        self.embedded[here, n_tokens + here] = 1.0
        self.embedded[here[:-1], self._out(self.ids[1:])] = known
        self._losses: dict[frozenset[tuple[int, int]], float] = {}

    @property
    def chance(self) -> float:
        """The loss of guessing evenly among all tokens."""
        return math.log(self.n_tokens)

    @property
    def scores(self) -> Tensor:
        """The induction score of each head, float32 (L, H)."""
        _, weights = self.run()
        seen_before = torch.arange(self.period + 1, 2 * self.period + 1)
        return weights[..., seen_before, seen_before - self.period + 1].mean(-1).float()

    def __call__(self, heads: Iterable[tuple[int, int]]) -> float:
        """Pairs (layer, head) -> the loss without these heads. Raises TypeError and IndexError."""
        removed = frozenset(self._pair(pair) for pair in self._listed(heads))
        if removed not in self._losses:
            x, _ = self.run(removed)
            asked = torch.arange(self.period + 1, 2 * self.period)
            logits = x[asked, -self.n_tokens :]
            logits[:, -1] += CROWDED
            loss = torch.nn.functional.cross_entropy(logits, self.ids[asked + 1])
            self._losses[removed] = round(loss.item(), 6)
        return self._losses[removed]

    def _listed(self, heads: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        try:
            return list(heads)
        except TypeError:
            raise TypeError(f"loss_without takes a list of pairs (layer, head), got {heads!r}") from None

    def _pair(self, pair: tuple[int, int]) -> tuple[int, int]:
        try:
            layer, head = map(index, pair)
        except (TypeError, ValueError):
            raise TypeError(f"loss_without takes a list of pairs (layer, head), and one of them is {pair!r}") from None
        n_layers, n_heads = len(self.jobs), len(self.jobs[0])
        if not (0 <= layer < n_layers and 0 <= head < n_heads):
            raise IndexError(f"there is no head ({layer}, {head}) in {n_layers} layers of {n_heads} heads")
        return layer, head

    def run(self, removed: frozenset[tuple[int, int]] = frozenset()) -> tuple[Tensor, Tensor]:
        """Without these heads: the stream after the last layer (T, D), and the weights (L, H, T, T)."""
        x, found = self.embedded, []
        future = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        relays = slice(self._relay(0), -self.n_tokens)
        for layer, (looking, writing) in enumerate(zip(self.looking, self.writing, strict=True)):
            weights = (x @ looking @ x.T).masked_fill(future, -math.inf).softmax(-1)  # (H, T, T)
            kept = torch.tensor([(layer, head) not in removed for head in range(len(looking))]).double()
            x = x + (kept[:, None, None] * (weights @ (x @ writing))).sum(0)
            x[:, relays].clamp_(max=1.0)
            found.append(weights)
        return x, torch.stack(found)

    def _circuits(self, job: str, strength: float, look: float) -> tuple[Tensor, Tensor]:
        """A head's QK and OV circuits, each (D, D): x @ QK @ x.T are its scores, x @ OV is what it moves."""
        kind, _, number = job.partition(" ")
        if kind not in JOBS:
            raise ValueError(f"job is {job!r}; expected one of {', '.join(JOBS)}")
        looking, writing = torch.zeros(2, self.width, self.width, dtype=torch.float64)
        tokens, letters = torch.arange(self.n_tokens), torch.arange(1, self.n_tokens - 1)
        first, relay, spare = self.n_tokens, self._relay(int(number or 0)), self._relay(self.n_relays - 1)
        if kind == "previous":
            places = first + torch.arange(len(self.ids))
            looking[places[1:], places[:-1]] = SHARP
            writing[letters, relay + letters] = 1.0
        elif kind == "distance":
            far = torch.arange(self.period + 1, len(self.ids) - 1)
            looking[tokens, first] = SHARP - math.log(look / (1 - look))
            looking[first + far, first + far - self.period + 1] = SHARP
            writing[letters, self._out(letters)] = strength
        elif kind == "question":
            looking[tokens, first] = SHARP
            looking[tokens[-1], first + 1] = 2 * SHARP
            writing[letters, self._out(letters)] = strength
        elif kind == "idle":
            writing[letters, spare + letters] = 1.0
        else:
            looking[letters, relay + letters] = SHARP
            looking[tokens, first] = SHARP - math.log(look / (1 - look))
            if kind == "backup":
                looking[self._out(tokens), first] = 2 * SHARP
            if kind == "unused":
                writing[letters, spare + letters] = 1.0
            else:
                writing[letters, self._out(letters)] = strength
        return looking, writing

    def _relay(self, number: int) -> int:
        """The first entry of a relay in the stream."""
        return self.n_tokens * (1 + number) + len(self.ids)

    def _out(self, tokens: Tensor) -> Tensor:
        """The entries of the stream that are read as the logits of these tokens."""
        return self.width - self.n_tokens + tokens
