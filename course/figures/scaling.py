"""Figures of lesson 04: spread of scores, their softmax and its gradient, learning, and dropout.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import torch

from .base import grid, row, with_alt_text, with_caption, with_choices
from .lines import curves, level, losses, note
from .panels import bars, heat_map
from .style import PALETTE, SMALL, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., Any]


def random_scores(width: int, n: int = 200, keys: int = 16, seed: int = 0) -> torch.Tensor:
    """Unscaled scores (n, keys): in each row of one query with `keys` keys, all drawn with mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(n, 1, width, generator=generator), torch.randn(n, keys, width, generator=generator)
    return torch.matmul(query, key.mT)[:, 0]


def of_widths(widths: Sequence[int]) -> Figure:
    """The `ridges` of random scores at some widths, and their standard deviations."""
    samples = {width: random_scores(width) for width in widths}
    spreads = {width: scores.std(correction=0) for width, scores in samples.items()}
    return with_caption(
        ridges(samples, spreads), "3,200 scores per width. The bar under each histogram is ± the spread."
    )


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


@with_choices(Dk=[1, 4, 16, 64, 256, 1024], seed=[23, 24, 25, 26, 27], strip=[{"Dk": 1}, {"Dk": 16}, {"Dk": 256}])
def one_query(*, Dk: int, seed: int) -> Figure:
    """One random query's scores with eight keys of width `Dk`, on an axis that grows with it, and their weights."""
    scores = random_scores(Dk, n=1, keys=8, seed=seed)[0]  # (8,)
    reach = max(3.6 * Dk**0.5, 1.2 * float(scores.abs().max()))
    return scores_and_weights(scores, torch.softmax(scores, dim=-1), reach)


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


SCALES: Mapping[str, Callable[[int], float]] = {
    "× 1": lambda width: 1.0,
    "/ √dₖ": lambda width: width**-0.5,
    "/ dₖ": lambda width: 1 / width,
}


def three_scales(widths: Sequence[int] = (1, 4, 16, 64, 256, 1024), keys: int = 16) -> Figure:
    """Spread of scores, entropy over `keys` keys and softmax's gradient by width, for three scales."""
    results = {
        name: torch.stack([_spread_entropy_gradient(width, keys, scale(width)) for width in widths])
        for name, scale in SCALES.items()
    }
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
        "Random queries and keys. The gradient is the size of all rates of a query together: the median of 200.",
    )


def _spread_entropy_gradient(width: int, keys: int, scale: float) -> torch.Tensor:
    """Standard deviation of scores, mean entropy of their weights, median norm of softmax's Jacobian, as (3,)."""
    scores = scale * random_scores(width, keys=keys)  # (200, keys)
    weights = torch.softmax(scores, dim=-1)
    entropy = torch.special.entr(weights).sum(-1)
    jacobians = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    return torch.stack([scores.std(correction=0), entropy.mean(), jacobians.norm(dim=(-2, -1)).median()])


def side_by_side(attend: Function, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> Figure:
    """Scores and weights (T, S), without the root and with it, by `attend(q, k, v, scale=…)`, for q, k of one width."""
    scores, width = torch.matmul(query, key.mT), query.shape[-1]
    panels = {
        "scores": scores,
        "their weights": attend(query, key, value, scale=1.0)[1],
        f"scores / √{width}": scores / width**0.5,
        "the weights of these": attend(query, key, value)[1],
    }
    figure, axes = grid(4, 2, width=1.0 + 0.42 * len(key), height=0.75 + 0.36 * len(query))
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        part, limit = ("weights", None) if "weights" in title else ("scores", float(scores.abs().max()))
        heat_map(values, ax=ax, part=part, title=title, numbers=True, limit=limit)
        ax.set(xlabel="key", ylabel="query")
    before, after = (panels[name].amax(-1) for name in ("their weights", "the weights of these"))
    return with_alt_text(
        figure,
        f"Four heat maps of {len(query)} queries by {len(key)} keys. Scores up to {scores.abs().max():.1f} give "
        f"weights of which the largest in a row is {before.min():.2f} to {before.max():.2f}; divided by √{width}, "
        f"it is {after.min():.2f} to {after.max():.2f}.",
        "Both maps of scores have one scale of colours.",
    )


def learned(learn: Function, width: int = 256) -> Figure:
    """The losses that `learn(scale)` returns for vectors of this width, for three scales."""
    found = {name: learn(scale(width)) for name, scale in SCALES.items()}
    ax = losses(found, {"averages all values": 15 / 16, "picks one by chance": 15 / 8}, names="ends")
    return with_caption(ax, f"Learning to look up one of 16 items, with queries and keys of width {width}.")


def in_modes(module: Any) -> Figure:
    """The weights (4, 6) of a module for random vectors of width 8, twice in eval mode and twice in training mode."""
    generator = torch.Generator().manual_seed(3)
    example = [torch.randn(n, 8, generator=generator) for n in (4, 6, 6)]
    found = {}
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(1)
        for title, training in {"eval": False, "eval again": False, "train": True, "train again": True}.items():
            found[title] = module.train(training)(*example)[1]
    caption = "Dropout with probability 0.3. Beside each row is its sum."
    return with_caption(weight_maps(found, per_row=2), caption)


def weight_maps(panels: Mapping[str, torch.Tensor], *, per_row: int) -> Figure:
    """Maps of weights (T, S), `per_row` side by side, with the sums of their rows."""
    queries, keys = next(iter(panels.values())).shape
    figure, axes = grid(len(panels), per_row, width=1.0 + 0.38 * keys, height=0.7 + 0.36 * queries)
    details = []
    for ax, (title, weights) in zip(axes, panels.items(), strict=True):
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


def three_heads(lm: SmallLM, attend: Function) -> Figure:
    """The weights of the query bank in three heads of the model, by `attend(q, k, v, scale=…)` at three scales."""
    figure, axes = row(3, width=3.3, height=2.3)
    details = []
    for ax, (layer, head) in zip(axes, ((0, 3), (1, 0), (2, 2)), strict=True):
        seen = lm.look("The boat reached the river bank", layer=layer, head=head)
        rows = [attend(seen.q[-1:], seen.k, seen.v, scale=scale)[1][0] for scale in (1.0, 24**-0.5, 1 / 24)]
        names = ["× 1", "/ √24", "/ 24"]
        heat_map(torch.stack(rows), ax=ax, rows=names, columns=seen.words, title=f"layer {layer}, head {head}")
        ax.tick_params(axis="x", rotation=40)
        most = [
            f"{name}: {weights.max():.2f} on {seen.words[int(weights.argmax())]}"
            for name, weights in zip(names, rows, strict=True)
        ]
        details.append(f"Layer {layer}, head {head}, {', '.join(most)}")
    return with_alt_text(
        figure,
        "Three heat maps of the weights of bank, with one row per scale and one column per word. The largest weights: "
        f"{'. '.join(details)}.",
        "Queries and keys are those of the trained model.",
    )
