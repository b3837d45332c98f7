"""Figures of weights that add up to 1: sums, sizes, and the space of them all.

The caller computes everything that is drawn, so that a lesson draws with the reader's own functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from .base import row, with_alt_text
from .lines import curves, level, note
from .panels import bars, heat_map
from .style import FAINT, LINES, PALE, PALE_ORANGE, PALETTE, SMALL, WHITE_GROUND, cell_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
                ax.text(
                    (begin + end) / 2,
                    place,
                    text,
                    ha="center",
                    va="center",
                    fontsize=10,
                    bbox=WHITE_GROUND,
                )
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
    return figure


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


def cooling(
    temperatures: torch.Tensor, weights: torch.Tensor, entropies: torch.Tensor, labels: Sequence[str]
) -> Figure:
    """Weights, (M, N), and their entropies, (M,), against M temperatures (log scale).

    `labels` names the N weights; of names that differ only in capitals, only the first has a curve. With alt text.
    """
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
