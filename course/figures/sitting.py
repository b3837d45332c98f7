"""Figures of lesson 00: a guess beside the weights, the weights of all words, two heads of a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text
from .panels import charts, heat_map, never_seen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 3.6  # inches of a map


def beside(guess: Sequence[float], weights: torch.Tensor, words: Sequence[str]) -> Figure:
    """A guess, one number of at least 0 per word, as shares of its sum, beside weights (T,)."""
    given = torch.zeros(len(words))
    for i, number in enumerate(list(guess)[: len(words)]):
        given[i] = max(float(number), 0.0)
    shares = given / given.sum() if given.sum() > 0 else given
    panels = {"your guess, as shares": shares, "the weights of “bank”": weights}
    figure, _ = charts(panels, words, width=3.9, height=2.6, part="weights", limit=1.1)
    return with_alt_text(
        figure,
        f"Two bar charts over the {len(words)} words. Your guess: {_listed(shares, words)}. "
        f"The weights: {_listed(weights, words)}.",
        "Equal numbers are the plain average.",
    )


def weights_of(weights: torch.Tensor, words: Sequence[str]) -> Figure:
    """Weights (T, T) as a map with numbers: a row per word that asks."""
    drawn = heat_map(weights, rows=words, columns=words, part="weights", size=(5.0, 4.0))
    drawn.set(xlabel="the word that is asked", ylabel="the word that asks")
    most = [words[int(i)] for i in weights.argmax(dim=-1)]
    found = ", ".join(f"{word} looks most at {other}" for word, other in zip(words, most, strict=True))
    return with_alt_text(drawn, f"A map of weights with a row for each word that asks, with numbers. By rows: {found}.")


def two_heads(weights: Sequence[torch.Tensor], words: Sequence[str]) -> Figure:
    """The weights (T, T) of two heads side by side; cells that nobody may see are hatched."""
    figure, axes = row(2, width=SIDE + 0.4, height=SIDE)
    details = []
    for ax, found, side in zip(axes, weights, ("left", "right"), strict=True):
        heat_map(
            found, ax=ax, rows=words, columns=words, part="weights", title=f"{side} head", blocked=never_seen(found)
        )
        details.append(f"{side} head: {words[-1]} gives {_listed(found[-1], words)}")
    return with_alt_text(
        figure,
        f"Two maps of weights, a row for each word that asks; {'; '.join(details)}.",
        "Row: the word that asks. Column: the word that is asked. Later words are hatched.",
    )


def _listed(shares: torch.Tensor, words: Sequence[str]) -> str:
    return ", ".join(f"{word} {share:.2f}" for word, share in zip(words, shares.tolist(), strict=True))
