"""Figures of lesson 08 that draw what the notebook's functions do: batches, rates, steps, and the trained model.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any

import torch

from .base import with_alt_text, with_caption, with_choices
from .diagram import overview
from .lines import curves, losses
from .training import batch, descent, heads, page, surprise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., Any]


def copying(run: Sequence[float]) -> Figure:
    """The loss of each step of learning to copy letters."""
    ax = losses({"loss of copying": run}, {"guessing, ln 26": log(26)}, ylabel="loss in nats")
    return with_caption(ax, f"The loss of each of {len(run)} steps.")


def copied(before: torch.Tensor, after: torch.Tensor) -> Figure:
    """The weights (2, 8, 8) for the letters of "keyboard", before and after learning to copy."""
    return with_caption(
        heads({"before": before, "after": after}, "keyboard"),
        "The weights of both heads, before and after training. Without a mask, every letter sees all eight.",
    )


def windows(ids: torch.Tensor, words: Sequence[str]) -> Figure:
    """Three windows of eight tokens of a text (L,), with their targets."""
    tokens = [words[i] for i in ids[:100].tolist()]
    begins = (0, 23, 60)
    return with_caption(
        batch([tokens[s : s + 8] for s in begins], [tokens[s + 1 : s + 9] for s in begins]),
        "Three windows of eight tokens, from the starts 0, 23 and 60.",
    )


def surprises(loss_of: Function, ids: torch.Tensor, words: Sequence[str], rows: Mapping[str, torch.Tensor]) -> Figure:
    """The surprise at each token but the first of a text (L,); `rows` are logits (L - 1, N), one per title.

    loss_of  (logits (1, 1, N), targets (1, 1)) -> the loss in nats
    """

    def token_by_token(logits: torch.Tensor) -> torch.Tensor:
        found = [loss_of(z[None, None], y[None, None]) for z, y in zip(logits, ids[1:], strict=True)]
        return torch.stack(found).detach().cpu()

    return surprise(
        [words[i] for i in ids[1:].tolist()], {title: token_by_token(logits) for title, logits in rows.items()}
    )


@with_choices(
    rate=[0.02, 0.1, 0.3, 0.5, 0.8, 1.0, 1.3, 1.6, 1.8, 1.9, 2.0, 2.1],
    start={"rate": 0.5},
    strip=[0.1, 1.0, 1.8, 2.1],
)
def descend(*, rate: float) -> Figure:
    """Eight steps down a parabola."""
    path = [2.0]
    for _ in range(8):
        path.append(path[-1] - rate * path[-1])
    return descent(path, f"learning rate {rate}")


def schedules(rate: Function) -> Figure:
    """Three schedules over 1000 steps, by `rate(step, warmup, total, peak, floor)`."""
    shapes = {"warm-up 100": (100, 0.0), "no warm-up": (0, 0.0), "warm-up 400, floor 0.001": (400, 1e-3)}
    rates = {
        name: [rate(n, warmup, 1000, 4e-3, floor) for n in range(1000)] for name, (warmup, floor) in shapes.items()
    }
    return with_alt_text(
        curves(range(1000), rates, xlabel="step", ylabel="learning rate"),
        "Three curves of the learning rate over 1000 steps with a peak of 0.004. Each begins low while it warms up, if "
        "it does, and then falls from the peak to its floor.",
        "The learning rate over a thousand steps, with a peak of 0.004.",
    )


def one_batch(
    model: Any,
    step: Function,
    loss_of: Function,
    few: Sequence[torch.Tensor],
    others: Sequence[torch.Tensor],
    uniform: float,
) -> Figure:
    """The loss of sixty steps on one batch, `few`, and on held-out `others`: inputs and targets (B, T) each.

    step     (model, optimizer, inputs, targets) -> the loss
    uniform  the loss of equally likely tokens
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    by_heart, elsewhere = [], []
    for i in range(60):
        if i % 10 == 0:
            with torch.no_grad():
                elsewhere.append(float(loss_of(model(others[0]), others[1])))
        by_heart.append(float(step(model, optimizer, *few)))
    runs: dict[str, Any] = {"the one batch": by_heart, "held out": (range(0, 60, 10), elsewhere)}
    return with_caption(
        losses(runs, {"uniform": uniform}, ylabel="loss in nats"),
        "The loss in sixty steps on one batch, and on held-out stories.",
    )


def course_of_training(
    training: Sequence[float], held_out: tuple[Sequence[int], Sequence[float]], baselines: Mapping[str, float]
) -> Figure:
    """The loss of each step, and the held-out loss as (steps, losses), with the baselines."""
    ax = losses({"training": training, "held out": held_out}, baselines, every=20, ylabel="loss in nats")
    return with_caption(ax, f"Held out at the end: {held_out[1][-1]:.2f}; bigram: {baselines['bigram']:.2f}.")


@with_choices(temperature=[0, 0.3, 0.5, 0.7, 1.0, 1.3], start=0.7, strip=[0, 0.7, 1.3])
def written(generate: Function, model: Any, lm: SmallLM, *, temperature: float) -> Figure:
    """The text that a model writes after "The captain", with its surprise at each token.

    generate  (model, prompt, n_tokens, temperature, generator) -> ids (1, T + n_tokens)
    model     ids (B, T) -> logits (B, T, N), with an integer `block_size`
    lm        the small language model, which encodes and decodes
    """
    prompt = lm.encode("The captain")[None].to(next(model.parameters()).device)
    ids = generate(model, prompt, 60, temperature, torch.Generator().manual_seed(11))[0]
    found = -_foresight(model, ids).log_softmax(-1).gather(-1, ids[1:, None])[:, 0]  # (L - 1,)
    texts = [lm.decode(ids[:i]) for i in range(len(ids) + 1)]
    pieces = [after[len(before) :] for before, after in pairwise(texts)]
    return page(pieces, torch.cat([found.new_zeros(1), found]).cpu(), f"temperature {temperature}")


@torch.no_grad()
def _foresight(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Logits (L - 1, N) of what follows each token of a text (L,) but the last, from at most block_size tokens."""
    T = model.block_size
    model.eval()
    first = model(ids[None, :T])[0]
    later = [model(ids[1:].unfold(0, T, 1))[:, -1]] if len(ids) > T else []
    return torch.cat([first, *later])[: len(ids) - 1]


def of_block(model: SmallLM, layer: int) -> Figure:
    """The weights of all heads of a block of the model on the lessons' sentence."""
    looks = [model.look("The boat reached the river bank", layer, head) for head in range(4)]
    return with_caption(
        heads({f"block {layer}": torch.stack([look.weights.detach() for look in looks])}, looks[0].words),
        f"Block {layer}. Row: the query; column: the key; hatched: blocked.",
    )


def so_far(lm: SmallLM) -> Figure:
    """The diagram up to lesson 08, with the scores and weights of a head of the trained model."""
    head = lm.look("The boat reached the river bank", layer=0, head=0)
    figure = overview("block", complete=True, scores=head.scores.detach(), weights=head.weights.detach())
    return with_caption(figure, "A head of block 0 of the trained model on “The boat reached the river bank”.")


def to_keep(lm: SmallLM) -> Figure:
    """The weights of a head of block 2 of the trained model."""
    head = lm.look("The boat reached the river bank", layer=2, head=0)
    return with_alt_text(
        heads({"after training": head.weights.detach()[None]}, head.words),
        "The weights of a head of block 2 over the words “The boat reached the river bank”.",
        "The weights of a head of block 2.",
    )
