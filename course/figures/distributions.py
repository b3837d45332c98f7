"""Figures of weights that add up to 1: sums, sizes, and the space of them all.

The caller computes everything that is drawn, so that a lesson draws with the reader's own functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text, with_caption, with_choices
from .lines import curves, level, note
from .panels import bars, charts, heat_map
from .roles import soft_lookup
from .shapes import write
from .style import FAINT, LINES, PALE, PALE_ORANGE, PALETTE, SMALL, WHITE_GROUND, cell_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..models.small_lm import SmallLM

Function = Callable[..., torch.Tensor]
TOP = math.sqrt(3) / 2  # height of the triangle with side 1


def sums(weights: torch.Tensor, *, ax: Axes, title: str = "") -> Axes:
    """A heat map of `weights`, (R, C), with the sums of its rows and columns."""
    heat_map(weights, ax=ax, part="weights", title=title)
    rows, columns = weights.shape
    places = [(columns - 0.4, float(r), "left") for r in range(rows)]
    places += [(float(c), rows - 0.2, "center") for c in range(columns)]
    totals = torch.cat([weights.sum(dim=1), weights.sum(dim=0)]).tolist()
    for (x, y, side), total in zip(places, totals, strict=True):
        ax.text(
            x,
            y,
            f"= {total:.2f}" if side == "left" else f"{total:.2f}",
            ha=side,
            va="center",
            weight="bold" if math.isclose(total, 1.0, abs_tol=5e-3) else "normal",
            clip_on=False,
        )
    return ax


def exp_range(*, width: float = 8.6, height: float = 2.9) -> Figure:
    """For four dtypes, the scores whose exponential is 0, finite, or infinite."""
    figure, (ax,) = row(1, width=width, height=height)
    edge = 130.0
    formats = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
    for place, dtype in enumerate(formats):
        limits = torch.finfo(dtype)
        # exp rounds to 0 below half of the smallest subnormal number
        low = math.log(limits.smallest_normal) + math.log(limits.eps) - math.log(2)
        high = math.log(limits.max)
        left, right = max(low, -edge), min(high, edge)
        parts = [(-edge, left, "0", ".", PALE), (right, edge, "inf", "///", PALE_ORANGE)]
        for begin, end, text, hatch, colour in parts:
            if end > begin:
                ax.barh(
                    place,
                    end - begin,
                    left=begin,
                    height=0.62,
                    color=colour,
                    edgecolor=FAINT,
                    hatch=hatch,
                    linewidth=0,
                )
                write(ax, (begin + end) / 2, place, text, fontsize=10, bbox=WHITE_GROUND)
        ax.barh(place, right - left, left=left, height=0.62, color=PALETTE[0])
        for value, at, align in ((low, left, "left"), (high, right, "right")):
            inside = right - left > 60
            ax.text(
                at + (2 if align == "left" else -2) * (1 if inside else -1),
                place,
                ("← " if value < left else "") + f"{value:.1f}".replace("-", "−") + (" →" if value > right else ""),
                va="center",
                fontsize=SMALL,
                ha=align if inside else {"left": "right", "right": "left"}[align],
                color="white" if inside else "black",
                bbox=None if inside else WHITE_GROUND,
            )
    ax.set_yticks(range(len(formats)), [str(dtype).removeprefix("torch.") for dtype in formats])
    ax.axvline(0, color="black", linewidth=1.2)
    ax.annotate("", (-edge, 3.72), (0, 3.72), arrowprops={"arrowstyle": "<-", "linewidth": 1.4})
    ax.text(
        -edge / 2, 3.86, "after subtracting the maximum, all scores are here", ha="center", va="bottom", fontsize=9.5
    )
    ax.set(xlim=(-edge, edge), ylim=(-0.45, 4.35), xlabel="score s; each bar shows what exp(s) is")
    ax.spines["left"].set_visible(False)
    ax.tick_params(left=False)
    return with_alt_text(
        figure,
        "For each of four number formats a bar over the scores from -130 to 130. In the middle of it exp(s) is a "
        "number; to the left it is rounded to 0; to the right it is infinity. The middle runs from -104 to 88.7 in "
        "float32, from -92.9 to 88.7 in bfloat16, from -17.3 to 11.1 in float16, and beyond the picture (-745 to 710) "
        "in float64.",
        "Dotted: exp(s) is rounded to 0. Hatched: exp(s) is infinite. float64 moves the limit to 709.8, far outside "
        "this picture.",
    )


@with_choices(
    temperature=[0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0],
    start={"temperature": 1.0},
    strip=[0.3, 1.0, 5.0],
)
def heated(sharpen: Function, scores: torch.Tensor, labels: Sequence[str], *, temperature: float) -> Figure:
    """The `budget` of the weights that `sharpen` makes of scores (N,) at a temperature."""
    return budget(sharpen(scores, temperature), labels, f"temperature {temperature}")


def three_temperatures(scores: torch.Tensor, words: Sequence[str]) -> Figure:
    """The weights of the lesson's scores (6,) at three temperatures, and how many words share the attention."""
    panels = {}
    for tau in (0.3, 1.0, 5.0):
        weights = torch.softmax(scores / tau, dim=-1)
        panels[f"τ = {tau:g}: shared by {torch.special.entr(weights).sum().exp():.1f}"] = weights
    figure, _ = charts(panels, words, width=2.9, height=2.7, turned=40, part="weights", limit=1.1)
    return with_alt_text(
        figure,
        "Three bar charts of the weights of the six words. At τ = 0.3 river has 0.96, shared by 1.2 words; at τ = 1 "
        "river has 0.58, shared by 3.2; at τ = 5 all weights are between 0.11 and 0.25, shared by 5.7.",
        "“Shared by” is e to the power of the entropy. Computed with PyTorch.",
    )


def contribution() -> Figure:
    """The contribution of a weight from 0 to 1 to the entropy."""
    weight = torch.linspace(0.0, 1.0, 1001)[1:]
    figure, (ax,) = row(1, width=5.4, height=2.9)
    ys = {"$-a$ ln $a$": -weight * weight.log()}
    curves(weight, ys, ax=ax, xlabel="weight $a$", ylabel="contribution (nats)")
    ax.plot(0, 0, "o", markersize=8, markerfacecolor="white", markeredgecolor="black", zorder=5)
    ax.annotate("the limit for $a$ → 0", (0, 0), (18, 2), textcoords="offset points")
    return with_alt_text(
        figure,
        "The curve of -a ln a for a from 0 to 1: it starts at 0, rises steeply to 0.37 at a = 0.37, and falls to 0 at "
        "1. An open circle at the origin marks the limit.",
        "Weights near 0 and weights near 1 contribute little: in both cases there is little doubt.",
    )


def budget(weights: torch.Tensor, labels: Sequence[str], title: str) -> Figure:
    """`weights`, (N,), as bars from 0 to 1, with dashes at the equal share 1 / N.

    `title` begins the alt text: it says what the weights are, e.g. "temperature 0.5".
    """
    figure, (ax,) = row(1, width=0.95 + 0.52 * len(labels), height=2.7)
    bars(weights, labels, ax=ax, part="weights", limit=1.12)
    share = 1 / len(labels)
    # Between the bars only: a continuous line would cross the numbers above them
    gaps = [i - 0.5 for i in range(len(labels) + 1)]
    ax.hlines([share] * len(gaps), [x - 0.12 for x in gaps], [x + 0.12 for x in gaps], color="black", linewidth=1.4)
    ax.set_xlim(-0.65, len(labels) - 0.35)
    ax.set_yticks([0, share, 0.5, 1], ["0", f"1/{len(labels)}", "0.5", "1"])
    top = int(weights.argmax())
    return with_alt_text(
        figure,
        f"{title}: {len(labels)} bars; the tallest, {float(weights[top]):.2f}, is that of "
        f"“{labels[top]}”; dashes mark the equal share, {share:.2f}.",
    )


def cooling(sharpen: Function, entropy: Function, scores: torch.Tensor, labels: Sequence[str]) -> Figure:
    """The weights that `sharpen` makes of scores (N,), and their `entropy`, from temperature 0.1 to 100.

    `labels` names the N weights; of names that differ only in capitals, only the first has a curve. With alt text.
    """
    temperatures = torch.logspace(-1, 2, 41)
    weights = torch.stack([sharpen(scores, tau) for tau in temperatures.tolist()])  # (41, N)
    entropies = entropy(weights)
    figure, (left, right) = row(2, width=4.6, height=3.5)
    once = {label.casefold(): i for i, label in reversed(list(enumerate(labels)))}
    ys = {labels[i]: weights[:, i] for i in sorted(once.values())}
    curves(temperatures, ys, ax=left, xlabel="temperature", title="weights", log="x")
    curves(temperatures, {"": entropies}, ax=right, xlabel="temperature", title="entropy (nats)", log="x")
    most = math.log(len(labels))
    right.set_ylim(-0.12 * most, 1.14 * most)
    for height, name, side in ((0.0, "0: one word", 1.0), (most, f"ln {len(labels)}: {len(labels)} words", 0.0)):
        level(right, height)
        align = "right" if side else "left"
        note(right, name, (side, height), (0, 3), xycoords=right.get_yaxis_transform(), ha=align)
    details = ", ".join(f"{name} {y[0]:.2f} to {y[-1]:.2f}" for name, y in ys.items())
    return with_alt_text(
        figure,
        f"Against the temperature, from {temperatures[0]:.2g} to {temperatures[-1]:.3g}: on the left the weights, "
        f"{details}; on the right their entropy, {entropies[0]:.2f} to {entropies[-1]:.2f}, where ln {len(labels)} is "
        f"{most:.2f}.",
        "Names that differ only in capitals have the same curve.",
    )


def two_routes(sharpen: Function, entropy: Function) -> Figure:
    """A `triangle` with two lists of three scores that cool down, by `sharpen`, over the contours of `entropy`."""
    starts = {"river 3, boat 2, bank 1.5": [3.0, 2.0, 1.5], "river 1, boat 2, bank 1.8": [1.0, 2.0, 1.8]}
    first, second = map(torch.tensor, starts.values())
    hot_to_cold = torch.logspace(2, -1.3, 80).tolist()
    routes = [torch.stack([sharpen(three, tau) for tau in hot_to_cold]) for three in (first, second)]
    stops = [
        (f"τ = {tau}" + (f": {sharpen(three, tau)[0]:.2f} river" if tau == 1.0 else ""), sharpen(three, tau))
        for three, tau in ((first, 1.0), (first, 0.5), (second, 1.0), (second, 0.3), (second, 0.1))
    ]
    figure, (ax,) = row(1, width=6.4, height=4.6)
    triangle(entropy, routes, ["river", "boat", "bank"], stops=stops, ax=ax)
    return with_alt_text(
        figure,
        "A triangle with the corners river, boat and bank, coloured by entropy: highest in the centre, 0 in the "
        "corners. Two paths leave the centre. One bends into the corner of river. The other heads for the middle of "
        "the edge between boat and bank, whose scores are close, and turns along the edge to boat only at low "
        "temperatures.",
        f"Two lists of scores, cooling down: {', and dashed '.join(starts)}.",
    )


def soft_dictionary(sharpen: Function) -> Figure:
    """A dictionary of four water levels, and the same look-up with the weights of `sharpen` at two temperatures."""
    hours = torch.tensor([6.0, 9.0, 10.0, 13.0])  # (S,), the keys
    metres = torch.tensor([2.4, 0.7, 0.6, 2.0])  # (S,), the values
    gaps = -((9.0 - hours) ** 2)
    panels = {"dictionary": (hours == 9.0).float()}
    panels |= {f"soft, τ = {tau}": sharpen(gaps, float(tau)) for tau in (1, 20)}
    figure = soft_lookup(panels, "9 h", [f"{hour:.0f} h" for hour in hours.tolist()], metres)
    return with_caption(figure, "A higher temperature spreads the weights.")


def answers(look_up: Function, hours: torch.Tensor, levels: torch.Tensor, tide: Function) -> Figure:
    """What `look_up` answers through a day at three temperatures: readings (S,) at hours (S,), and the `tide`."""
    all_day = torch.linspace(0.0, 24.0, 481)
    found = {f"τ = {tau:g}": look_up(all_day, hours, levels, tau) for tau in (0.001, 1.0, 100.0)}
    figure, (ax,) = row(1, width=7.2, height=3.4)
    curves(all_day, found, ax=ax, xlabel="hour", ylabel="level (m)")
    ax.plot(all_day, tide(all_day), color="grey", linewidth=4, alpha=0.45, zorder=1)
    ax.plot(hours, levels, "o", markerfacecolor="none", markeredgecolor="black", markersize=6, zorder=3)
    return with_alt_text(
        figure,
        "Forty circles, the readings, rise and fall twice in 24 hours, between about 0 and 4 metres. The answers at "
        "τ = 0.001 are a staircase that jumps from one circle to the next; at τ = 1 a smooth wave close to the broad "
        "grey line of the tide; at τ = 100 a nearly flat line at 2 metres.",
        "Circles: readings. Broad grey line: the tide without waves.",
    )


def next_words(lm: SmallLM, softmax: Function, entropy: Function) -> Figure:
    """The seven likeliest next words of the model after three texts, and how many words share the attention."""
    texts = ("The", "The boat reached", "The boat reached the river")
    figure, axes = row(len(texts), width=3.2, height=3.1)
    details = []
    for ax, text in zip(axes, texts, strict=True):
        probabilities = softmax(lm.next_scores(text), dim=-1)  # (N,)
        first = probabilities.topk(7).indices
        likeliest, shared = [lm.words[i] for i in first], float(entropy(probabilities).exp())
        bars(probabilities[first], likeliest, ax=ax, part="weights", title=f"{text} …", limit=1.1)
        ax.set_xlabel(f"shared by {shared:.1f} words")
        ax.tick_params(axis="x", rotation=60)
        details.append(f"after “{text}” {likeliest[0]} {probabilities[first[0]]:.2f}, shared by {shared:.1f} words")
    return with_alt_text(
        figure,
        f"Three bar charts of the seven likeliest next words: {'; '.join(details)}.",
        "The seven likeliest next words.",
    )


def triangle(
    height_of: Callable[[torch.Tensor], torch.Tensor],
    paths: Sequence[torch.Tensor],
    corners: Sequence[str],
    *,
    stops: Sequence[tuple[str, torch.Tensor]] = (),
    ax: Axes,
    title: str = "",
) -> Axes:
    """All ways to share 1 among three: contours of an entropy (0 to ln 3), with paths.

    `height_of` maps weights (M, 3) to (M,). Each of `paths` is (P, 3), the first solid, the second dashed; `stops` are
    named points (3,). `corners` names the corners where the first, second, third weight is 1.
    """
    from matplotlib.patches import Polygon

    x, y = torch.meshgrid(torch.linspace(0, 1, 161), torch.linspace(0, TOP, 141), indexing="xy")
    third = y / TOP
    second = x - third / 2
    shares = torch.stack([1 - second - third, second, third], dim=-1).clamp(min=0)
    # Points outside get the shares of the nearest edge; they are clipped below
    shares = shares / shares.sum(-1, keepdim=True)
    heights = height_of(shares.flatten(0, 1)).detach().reshape(x.shape)
    levels = [i * math.log(3) / 8 for i in range(9)]
    edge = Polygon([(0, 0), (1, 0), (0.5, TOP)], fill=False, edgecolor="black", linewidth=1)
    ax.add_patch(edge)
    plane = x.numpy(), y.numpy(), heights.clamp(1e-6, levels[-1] - 1e-6).numpy()
    filled = ax.contourf(*plane, levels=levels, cmap=cell_colours("amounts"))
    lines = ax.contour(*plane, levels=levels[1:-1], colors="white", linewidths=0.6)
    for drawn in (filled, lines):
        drawn.set_clip_path(edge)
    bar = ax.figure.colorbar(filled, ax=ax, fraction=0.04, pad=0.08, ticks=[0, 0.5, math.log(3)])
    bar.ax.set_yticklabels(["0", "0.5", "ln 3"])
    bar.set_label("entropy (nats)")
    for path, style in zip(paths, LINES, strict=False):
        for colour, width in (("black", 4.2), ("white", 2.0)):
            ax.plot(*_flat(path), color=colour, linestyle=style, linewidth=width)
    hottest = "τ → ∞"
    for text, point in [(hottest, torch.full((3,), 1 / 3)), *stops]:
        across, up = _flat(point[None])
        ax.plot(across, up, "o", color="white", markeredgecolor="black", markersize=6, zorder=4)
        note(
            ax,
            text,
            (across[0], up[0]),
            (-8 if text == hottest else 8, 7),
            ha="right" if text == hottest else "left",
            va="center",
            bbox={**WHITE_GROUND, "alpha": 0.85},
        )
    for name, at, side, shift in zip(
        corners,
        ((0, 0), (1, 0), (0.5, TOP)),
        ("right", "left", "center"),
        (-10, -10, 6),
        strict=True,
    ):
        ax.annotate(name, at, (0, shift), textcoords="offset points", ha=side)
    ax.set(aspect="equal", title=title, xlim=(-0.14, 1.14), ylim=(-0.06, TOP + 0.08))
    ax.axis("off")
    return ax


def _flat(points: torch.Tensor) -> tuple[list[float], list[float]]:
    """Coordinates of weights (M, 3) in the plane of the triangle."""
    points = points.detach().double()
    return (
        (points[:, 1] + points[:, 2] / 2).tolist(),
        (points[:, 2] * TOP).tolist(),
    )
