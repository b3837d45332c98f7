"""Figures of lesson 04: spread of scores, their softmax, and dropout.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

import torch

from .base import grid, row, with_alt_text
from .lines import curves, level, note
from .panels import bars, heat_map
from .style import PALETTE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ridges(samples: Mapping[int, torch.Tensor], reach: Mapping[int, torch.Tensor | float] | None = None) -> Figure:
    """A histogram per width of queries and keys, and below it a bar of ± reach, if given.

    `samples` maps a width to scores of any shape, `reach` to one number. All histograms have the same height.
    """
    bar = {width: float(number) for width, number in (reach or {}).items()}
    edge = 3.2 * max(float(scores.std()) for scores in samples.values())
    edges = torch.linspace(-edge, edge, 122)
    figure, (ax,) = row(1, width=7.2, height=0.85 * len(samples) + 0.6)
    for floor, (width, scores) in enumerate(reversed(list(samples.items()))):
        counts = torch.histc(scores.detach().float().flatten(), len(edges) - 1, -edge, edge)
        heights = floor + 0.75 * counts / counts.max()
        ax.stairs(heights.tolist(), edges.tolist(), baseline=floor, fill=True, color=colour("scores"))
        if width in bar:
            ends = [-bar[width], bar[width]]
            ax.plot(ends, [floor - 0.09] * 2, color=PALETTE[6], marker="|", linewidth=1.6)
            note(ax, f"± {bar[width]:.1f}", (bar[width], floor - 0.09), (6, 0), va="center")
    ax.set_yticks(range(len(samples)), [f"dₖ = {width}" for width in reversed(samples)])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(-edge, edge), ylim=(-0.3, None), xlabel="score of one query with one key")
    details = ", ".join(f"± {bar[width]:.1f} at width {width}" for width in bar)
    return with_alt_text(
        figure,
        f"{len(samples)} histograms of scores over the same axis, at the widths {', '.join(map(str, samples))}, all "
        f"centred on 0, each wider than the one above it.{f' The bars below them: {details}.' if bar else ''}",
    )


def scores_and_weights(scores: torch.Tensor, weights: torch.Tensor, reach: float) -> Figure:
    """Scores (S,) as bars, from -reach to reach, above weights (S,), from 0 to 1."""
    figure, (above, below) = grid(2, 1, width=4.4, height=2.2)
    bars(scores, ax=above, part="scores", title="scores", limit=(-reach, reach))
    bars(weights, ax=below, part="weights", title="weights", limit=(0, 1.15))
    below.set_xlabel("key")
    return with_alt_text(
        figure,
        f"{len(scores)} scores between {scores.min():.1f} and {scores.max():.1f}; the greatest of "
        f"their weights is {weights.max():.2f}, the next {weights.sort().values[-2]:.2f}.",
    )


def responses(rates: Mapping[str, torch.Tensor]) -> Figure:
    """Heat maps (S, S) of the derivatives of weight `row` with respect to score `column`, within ±1/4."""
    figure, axes = row(len(rates), width=3.2, height=3.1)
    for ax, (title, rate) in zip(axes, rates.items(), strict=True):
        places = list(map(str, range(len(rate))))
        heat_map(rate, ax=ax, rows=places, columns=places, kind="scores", limit=0.25, title=title)
        ax.set_xlabel("… with this score")
    axes[0].set_ylabel("this weight changes …")
    details = "; ".join(f"{title}: at most {rate.abs().max():.2f}" for title, rate in rates.items())
    return with_alt_text(
        figure,
        "Square heat maps on one colour scale, with a row per weight and a column per score, positive on the diagonal "
        f"and negative beside it. The largest rate, up or down: {details}.",
    )


def experiment(widths: Sequence[int], results: Mapping[str, torch.Tensor], keys: int) -> Figure:
    """Spread of scores, entropy over `keys` keys and softmax's gradient by width.

    `results` maps a curve's name to these three values for every width, (len(widths), 3).
    """
    most = log(keys)
    figure, axes = row(3, width=3.4, height=3.1)
    figure.set_layout_engine("constrained", wspace=0.06)
    axes[1].set_ylim(-0.1, 1.13 * most)
    titles = ("spread of the scores", "entropy of the weights", "gradient of softmax")
    for i, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        ys = {name: readings[:, i] for name, readings in results.items()}
        curves(widths, ys, ax=ax, xlabel="width dₖ", title=title, log="x" if i == 1 else "both")
        ax.set_xticks(list(widths), [str(width) for width in widths])
        ax.minorticks_off()
    level(axes[1], most)
    note(axes[1], "equal weights", (widths[0], most), (0, 3))
    details = ". ".join(
        f"{name}: spread {r[0, 0]:.2f} to {r[-1, 0]:.2f}, entropy {r[0, 1]:.2f} to {r[-1, 1]:.2f}, "
        f"gradient {r[0, 2]:.2g} to {r[-1, 2]:.2g}"
        for name, r in results.items()
    )
    return with_alt_text(
        figure,
        f"Three panels against the width, from {widths[0]} to {widths[-1]}. {details}. "
        f"Equal weights would have the entropy {most:.2f}.",
    )


def weight_maps(maps: Mapping[str, torch.Tensor], *, per_row: int = 3) -> Figure:
    """Maps of weights (T, S), `per_row` side by side, with the sums of their rows."""
    queries, keys = next(iter(maps.values())).shape
    figure, axes = grid(len(maps), per_row, width=1.0 + 0.38 * keys, height=0.7 + 0.36 * queries)
    details = []
    for ax, (title, weights) in zip(axes, maps.items(), strict=True):
        heat_map(weights, ax=ax, part="weights", title=title, numbers=True)
        ax.set(xlabel="key", ylabel="query")
        sums = ax.secondary_yaxis("right")
        sums.set_yticks(range(len(weights)), [f"Σ {total:.2f}" for total in weights.sum(-1)])
        sums.tick_params(length=0, labelsize=SMALL)
        sums.spines[:].set_visible(False)
        low, high = weights.sum(-1).aminmax()
        details.append(f"{title}: up to {weights.max():.2f}, rows sum to {low:.2f} to {high:.2f}")
    shape = f"{queries} queries by {keys} keys"
    return with_alt_text(figure, f"Heat maps of weights, {shape}, the sum of each row beside it. {'; '.join(details)}.")


def settling(counts: Sequence[int], distances: Sequence[float]) -> Figure:
    """Distance of the mean of n draws from the exact result, against n, beside 1 / √n."""
    ys = {"measured": distances, "1 / √n": [distances[0] * n**-0.5 for n in counts]}
    figure, (ax,) = row(1, width=5.6, height=3.0)
    curves(counts, ys, ax=ax, xlabel="number of draws n", ylabel="distance from eval", log="both")
    return with_alt_text(
        figure,
        f"On logarithmic axes, the distance of the mean output from the output in eval mode: "
        f"{distances[0]:.2f} for one draw, {distances[-1]:.3f} for {counts[-1]}, falling like 1 / √n.",
    )
