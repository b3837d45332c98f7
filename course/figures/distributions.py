"""Pictures of weights that add up to 1: their sums, their temperature, their place in the triangle of all of them.

Everything drawn is computed by the caller, so that a lesson draws with the reader's own functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from course.figures.base import PALETTE, bars, heat_map, row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def sums(weights: torch.Tensor, *, ax: Axes, title: str = "") -> Axes:
    """A heat map of `weights`, (R, C), with each row's sum written to its right and each column's below it."""
    heat_map(weights, ax=ax, title=title)
    rows, columns = weights.shape
    ends = [(columns - 0.4, r, weights[r].sum(), "left") for r in range(rows)]
    ends += [(c, rows - 0.2, weights[:, c].sum(), "center") for c in range(columns)]
    for x, y, total, align in ends:
        exact = math.isclose(float(total), 1.0, abs_tol=5e-3)
        ax.text(
            x, y, f"{'= ' if align == 'left' else ''}{float(total):.2f}", ha=align, va="center",
            fontsize=10, weight="bold" if exact else "normal", clip_on=False,
        )  # fmt: skip
    return ax


def exp_range(*, width: float = 8.6, height: float = 2.9) -> Figure:
    """For four number formats, the scores whose exponential is 0, a number, or infinity, on one axis."""
    figure, (ax,) = row(1, width=width, height=height)
    edge = 130.0
    formats = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
    for place, dtype in enumerate(formats):
        limits = torch.finfo(dtype)
        # exp rounds to 0 below half of the smallest number that the format holds.
        low = math.log(limits.smallest_normal) + math.log(limits.eps) - math.log(2)
        high = math.log(limits.max)
        left, right = max(low, -edge), min(high, edge)
        parts = [(-edge, left, "0", "...", "#f2f2f2"), (right, edge, "inf", "///", "#fbe3d4")]
        for begin, end, text, hatch, colour in parts:
            if end > begin:
                ax.barh(
                    place, end - begin, left=begin, height=0.62, color=colour,
                    edgecolor="#8a8a8a", hatch=hatch, linewidth=0,
                )  # fmt: skip
                ax.text(
                    (begin + end) / 2, place, text, ha="center", va="center", fontsize=10,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
                )  # fmt: skip
        ax.barh(place, right - left, left=left, height=0.62, color=PALETTE[0])
        for value, at, align in ((low, left, "left"), (high, right, "right")):
            inside = right - left > 60
            ax.text(
                at + (2 if align == "left" else -2) * (1 if inside else -1), place,
                f"{value:.1f}".replace("-", "−"), va="center", fontsize=9,
                ha=align if inside else {"left": "right", "right": "left"}[align],
                color="white" if inside else "black",
                bbox=None if inside else {"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
    ax.set_yticks(range(len(formats)), [str(dtype).removeprefix("torch.") for dtype in formats])
    ax.axvline(0, color="black", linewidth=1.2)
    ax.annotate(
        "", (-edge, 3.72), (0, 3.72), arrowprops={"arrowstyle": "<-", "linewidth": 1.4}
    )
    ax.text(-edge / 2, 3.86, "after subtracting the maximum, all scores lie here",
            ha="center", va="bottom", fontsize=9.5)  # fmt: skip
    ax.set(xlim=(-edge, edge), ylim=(-0.45, 4.35), xlabel="score x; the bars say what exp(x) is")
    ax.spines["left"].set_visible(False)
    ax.tick_params(left=False)
    return figure


def budget(weights: torch.Tensor, labels: Sequence[str], title: str) -> tuple[Figure, str]:
    """`weights`, (N,), as bars from 0 to 1, with a dashed line at the equal share 1 / N; and its description."""
    figure, (ax,) = row(1, width=0.95 + 0.52 * len(labels), height=2.7)
    bars(weights, labels, ax=ax, title=title, limit=1.12)
    share = 1 / len(labels)
    ax.axhline(share, color="black", linestyle="--", linewidth=1)
    ax.set_yticks([0, 0.5, 1])
    top = int(weights.argmax())
    alt = (
        f"{title}: {len(labels)} bars; the tallest, {float(weights[top]):.2f}, is that of "
        f"“{labels[top]}”; a dashed line marks the equal share, {share:.2f}."
    )
    return figure, alt


def triangle(
    height_of: Callable[[torch.Tensor], torch.Tensor],
    paths: Mapping[str, torch.Tensor],
    corners: Sequence[str],
    *,
    ticks: Mapping[str, torch.Tensor] | None = None,
    ax: Axes,
    title: str = "",
) -> Axes:
    """All ways to share 1 among three, as a triangle: contours of a function, and paths through it.

    `height_of` maps weights (M, 3) to (M,); each of `paths` is (P, 3), drawn and named; `ticks` are labelled points
    (3,). `corners` names the three places where one of the weights is 1.
    """
    from matplotlib.tri import Triangulation

    steps = 60
    grid = torch.tensor(
        [(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]
    ).float()
    x, y = _flat(grid / steps)
    levels = [i * math.log(3) / 8 for i in range(9)]
    mesh, heights = Triangulation(x, y), height_of(grid / steps).detach().double().numpy()
    filled = ax.tricontourf(mesh, heights, levels=levels, cmap="cividis", extend="both")
    ax.tricontour(mesh, heights, levels=levels, colors="white", linewidths=0.5)
    bar = ax.figure.colorbar(filled, ax=ax, fraction=0.04, pad=0.06, ticks=[0, 0.5, math.log(3)])
    bar.ax.set_yticklabels(["0", "0.5", "ln 3"])
    bar.set_label("entropy (nats)")
    for (name, path), style in zip(paths.items(), ("-", "--", "-.", ":"), strict=False):
        across, up = _flat(path)
        for colour, line in (("black", 4.0), ("white", 2.2)):
            ax.plot(across, up, color=colour, linestyle=style, linewidth=line, label=name)
    for text, point in (ticks or {}).items():
        across, up = _flat(point[None])
        ax.plot(across, up, "o", color="white", markeredgecolor="black", markersize=6, zorder=4)
        ax.annotate(
            text, (across[0], up[0]), (7, 0), textcoords="offset points", fontsize=8.5, va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
        )  # fmt: skip
    for name, (across, up), align, shift in zip(
        corners, zip(*_flat(torch.eye(3)), strict=True), ("right", "left", "center"),
        ((-4, -10), (4, -10), (0, 6)), strict=True,
    ):  # fmt: skip
        ax.annotate(
            name, (across, up), shift, textcoords="offset points", ha=align, annotation_clip=False
        )
    ax.set(aspect="equal", title=title)
    ax.axis("off")
    return ax


def _flat(points: torch.Tensor) -> tuple[list[float], list[float]]:
    """The places in the plane of weights (M, 3): corners at (0, 0), (1, 0) and the top."""
    points = points.detach().double()
    return (
        (points[:, 1] + points[:, 2] / 2).tolist(),
        (points[:, 2] * math.sqrt(3) / 2).tolist(),
    )
