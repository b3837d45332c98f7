"""Figures of lesson 04: spread of scores, their softmax, and dropout.

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


def of_widths(queries_and_keys: Function, widths: Sequence[int], spread: Function | None = None) -> Figure:
    """The `ridges` of random scores at some widths, and their `spread` if that function is given.

    `queries_and_keys(width)` gives 200 queries (200, 1, K) and their keys (200, 16, K).
    """
    drawn = {width: queries_and_keys(width) for width in widths}
    samples = {width: torch.matmul(query, key.mT) for width, (query, key) in drawn.items()}
    reach = spread and {width: spread(query, key) for width, (query, key) in drawn.items()}
    caption = "The bar under each histogram is ± the spread." if spread else "Each histogram holds 3,200 scores."
    return with_caption(ridges(samples, reach), caption)


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


@with_choices(K=[1, 4, 16, 64, 256, 1024], seed=[23, 24, 25, 26, 27], strip=[{"K": 1}, {"K": 16}, {"K": 256}])
def one_query(queries_and_keys: Function, *, K: int, seed: int) -> Figure:
    """One random query's scores with eight keys of width `K`, and their weights; `queries_and_keys` as above."""
    query, key = queries_and_keys(K, n=1, S=8, seed=seed)
    scores = torch.matmul(query, key.mT)[0, 0]  # (8,)
    return scores_and_weights(scores, torch.softmax(scores, dim=-1), reach=110)


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


def responses(rate_of: Function) -> Figure:
    """The rates at which each of five weights (row) changes with each score (column), for three sizes of scores.

    `rate_of(scores, step)` gives them, (S, S), within ±1/4.
    """
    scores = torch.tensor([0.6, -0.4, 0.2, -0.9, 0.4])
    rates: dict[str, torch.Tensor] = {f"scores × {factor}": rate_of(factor * scores, 0.01) for factor in (1, 4, 16)}
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
        "All three on one scale of colours.",
    )


def experiment(widths: Sequence[int], measure: Function, keys: int = 16) -> Figure:
    """Spread of scores, entropy over `keys` keys and softmax's gradient by width, for three scales.

    `measure(width, scale)` gives these three values, (3,).
    """
    scales: dict[str, Callable[[int], float]] = {
        "× 1": lambda K: 1.0,
        "/ √dₖ": lambda K: K**-0.5,
        "/ dₖ": lambda K: 1 / K,
    }
    results = {name: torch.stack([measure(K, scale(K)) for K in widths]) for name, scale in scales.items()}
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


@with_choices(alpha=[0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0], start={"alpha": 0.5}, strip=[0.0, 0.25, 0.5, 1.0])
def with_power(attend: Function, *qkv: torch.Tensor, alpha: float) -> Figure:
    """The weights (T, S) of `attend(q, k, v, scale=…)` with the scale K^-alpha, for q, k, v of width 64."""
    scale = 64**-alpha
    return weight_maps({f"scores × {scale:.3g}": attend(*qkv, scale=scale)[1]}, per_row=1)


def in_modes(module: Any, example: Sequence[torch.Tensor]) -> Figure:
    """The weights (T, S) of a module for `example`, twice in eval mode and twice in training mode."""
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
    for ax, (layer, head) in zip(axes, ((0, 3), (1, 0), (2, 2)), strict=True):
        seen = lm.look("The boat reached the river bank", layer=layer, head=head)
        rows = [attend(seen.q[-1:], seen.k, seen.v, scale=scale)[1][0] for scale in (1.0, 24**-0.5, 1 / 24)]
        names = ["× 1", "/ √24", "/ 24"]
        heat_map(torch.stack(rows), ax=ax, rows=names, columns=seen.words, title=f"layer {layer}, head {head}")
        ax.tick_params(axis="x", rotation=40)
    return with_alt_text(
        figure,
        "Three heat maps of the weights of bank, with one row per scale and one column per word. Not scaled, one or "
        "two words have most of the weight; divided by the root of 24, it is spread more evenly; divided by 24, most "
        "evenly.",
        "Queries and keys are those of the trained model.",
    )


def settling(module: Any, example: Sequence[torch.Tensor]) -> Figure:
    """Distance of the mean of n outputs in training mode from the output in eval mode, against n, beside 1 / √n.

    The module has dropout and returns (output, weights) for the tensors of `example`.
    """
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        exact = module.eval()(*example)[0]
        outputs = torch.stack([module.train()(*example)[0] for _ in range(4096)])
    counts = [1, 4, 16, 64, 256, 1024]
    means = [outputs.unflatten(0, (-1, n)).mean(1) for n in counts]  # of 4096 / n groups
    distances = [float((mean - exact).square().mean().sqrt()) for mean in means]
    ys = {"measured": distances, "1 / √n": [distances[0] * n**-0.5 for n in counts]}
    figure, (ax,) = row(1, width=5.6, height=3.0)
    curves(counts, ys, ax=ax, xlabel="number of draws n", ylabel="distance from eval", log="both")
    return with_alt_text(
        figure,
        f"On logarithmic axes, the distance of the mean output from the output in eval mode: "
        f"{distances[0]:.2f} for one draw, {distances[-1]:.3f} for {counts[-1]}, falling like 1 / √n.",
        "The mean of n outputs in training mode approaches the output in eval mode.",
    )


def fine_tuned(fine_tune: Function, spreads: Function, lm: SmallLM) -> Figure:
    """The held-out losses of `fine_tune(scale)`, which returns them and the model, for three scales.

    Prints for each scale the loss, and by how much `spreads` of the model have grown.
    """
    found = {}
    for name, scale in {"× 1": 1.0, "/ √24": 24**-0.5, "/ 24": 1 / 24}.items():
        run, model = fine_tune(scale)
        found[name] = list(range(0, 101, 10)), run
        print(f"{name:5}  loss {run[0]:.2f} -> {run[-1]:.2f}   spread × {(spreads(model) / spreads(lm)).mean():.2f}")
    return with_caption(
        losses(found, names="ends"),
        "Held-out loss of the small language model, trained further with its scores scaled in three ways.",
    )
