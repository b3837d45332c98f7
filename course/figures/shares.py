"""Figures of lesson 02: from scores to weights, what `dim` does, the Jacobian and the logarithm.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text, with_caption
from .diagram import overview
from .distributions import sums
from .lines import curves, note
from .panels import bars, heat_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Function = Callable[..., torch.Tensor]


def from_scores(share: Function, scores: torch.Tensor, words: Sequence[str]) -> Figure:
    """Scores (N,), their exponentials, and the weights that `share` makes of them, as bars."""
    figure, axes = row(3, height=2.9)
    bars(scores, words, ax=axes[0], part="scores", title="scores $s$")
    bars(torch.exp(scores), words, ax=axes[1], title="$e^s$", limit=24)
    top = 24 / torch.exp(scores).sum().item()  # the same axis, divided by the same sum
    bars(share(scores), words, ax=axes[2], part="weights", title="weights: $e^s$ / sum", limit=top)
    for ax in axes:
        ax.tick_params(axis="x", rotation=40)
    return with_alt_text(
        figure,
        "Three bar charts of the six words. The scores run from -1 to 3. Their exponentials are all positive: 20.1 for "
        "river, 7.4 for boat, 0.4 for The. The weights have the same shape and add up to 1: 0.58 for river.",
        "The division changes the scale, not the shape.",
    )


def both_ways(scores: torch.Tensor) -> Figure:
    """The softmax of the lesson's `scores` (3, 4) along each of their dimensions, with `sums`."""
    figure, axes = row(2, width=4.2, height=2.9)
    for ax, dim in zip(axes, (-1, 0), strict=True):
        sums(torch.softmax(scores, dim), ax=ax, title=f"softmax(x, dim={dim})")
    return with_alt_text(
        figure,
        "Two heat maps of weights of the same 3 by 4 scores, each with the sums of its rows and columns. With dim -1 "
        "each row sums to 1 and the columns to 1.02, 0.30, 0.46 and 1.23; with dim 0 each column sums to 1 and the "
        "rows to 1.60, 1.43 and 0.97.",
        "The same scores, normalised along each row (left) and along each column (right). Sums of 1 are bold.",
    )


def scores_of_all(last: torch.Tensor) -> torch.Tensor:
    """Scores (6, 6) of the sentence's words with one another, of which `last` (6,) are those of bank."""
    others = (
        (1.0, 1.5, 0.0, 0.5, 0.0, 0.0),
        (0.0, 2.0, 1.5, -1.0, 2.0, 1.0),
        (-1.0, 2.5, 1.0, -1.0, 1.5, 2.5),
        (0.5, 0.0, 0.0, 1.0, 1.5, 1.5),
        (-1.0, 1.5, 0.0, 0.5, 2.0, 3.0),
    )
    return torch.cat([torch.tensor(others), last[None]])


def weights_of_all(softmax: Function, scores: torch.Tensor, words: Sequence[str]) -> Figure:
    """The scores (6, 6) of `scores_of_all`, and their weights."""
    figure, axes = row(2, width=4.4, height=3.9)
    heat_map(scores, ax=axes[0], rows=words, columns=words, part="scores", title="scores S")
    heat_map(softmax(scores, dim=-1), ax=axes[1], rows=words, columns=words, part="weights", title="weights A")
    return with_alt_text(
        figure,
        "Two 6 by 6 heat maps with the words as rows and columns. Left the scores, between -1 and 3. Right the "
        "weights: each row sums to 1, and the row of bank gives 0.58 to river, 0.22 to boat and 0.13 to itself.",
    )


def so_far(softmax: Function, scores: torch.Tensor) -> Figure:
    """The diagram up to lesson 02, with the scores (6, 6) of `scores_of_all` and their weights."""
    figure = overview("softmax", complete=True, scores=scores, weights=softmax(scores, dim=-1))
    return with_caption(figure, "Scores and weights of the six words.")


def jacobian(changes: torch.Tensor, weights: torch.Tensor, words: Sequence[str]) -> Figure:
    """The Jacobian of softmax (6, 6) at the lesson's scores, beside each word its weight (6,)."""
    ax = heat_map(
        changes,
        rows=[f"{word}  {share:.2f}" for word, share in zip(words, weights.tolist(), strict=True)],
        columns=words,
        kind="scores",
        limit=0.25,
        title="change of weight i (row) with score j (column)",
        size=(6.0, 4.2),
    )
    return with_alt_text(
        ax,
        "The 6 by 6 Jacobian, beside each row the weight: positive on the diagonal, greatest for river with 0.24 and "
        "boat with 0.17; negative elsewhere, -0.13 between river and boat; nearly zero for the two articles, whose "
        "weights are 0.01.",
        "Beside each word is its weight. (0.00 is a rounded small number.)",
    )


def three_logarithms(log_softmax: Function) -> Figure:
    """The loss of a score further and further below the highest, by `log_softmax` and two other ways."""
    gap = torch.arange(0.0, 151.0, 2.0)
    pairs = torch.stack([torch.zeros_like(gap), -gap], dim=-1)  # (76, 2): the best score, and one that is `gap` behind
    small = torch.softmax(pairs, dim=-1)[:, 1]
    figure, (ax,) = row(1, width=6.6, height=3.3)
    losses = {"log_softmax": -log_softmax(pairs, dim=-1)[:, 1]}
    curves(
        gap,
        losses | {"log of softmax": -small.log(), "log(a + 1e-9)": -(small + 1e-9).log()},
        ax=ax,
        names="legend",
        xlabel="gap: how far the score is below the highest",
        ylabel="loss, $-\\ln a$",
        title="Three ways to take the logarithm, in float32",
    )
    for limit, up, text in (
        (21, 1, "21: log(a + 1e-9) levels off"),
        (104, 26, "104: log of softmax is\ninfinite from here on"),
    ):
        ax.axvline(limit, color="grey", linestyle=":", linewidth=1.2)
        note(ax, text, (limit, up), (5, 3))
    return with_alt_text(
        figure,
        "The loss against the gap from 0 to 150. log_softmax is a straight line to 150. The log of softmax follows it "
        "to about 104 and then ends, where it becomes infinite. With 1e-9 added the curve bends at 20.7 and stays "
        "nearly flat.",
        "With 1e-9 added, as some do, the loss stays finite, but is wrong above 21.",
    )
