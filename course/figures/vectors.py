"""Figures of lesson 01: vectors as arrows, products of entries, matrix cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import row, with_alt_text
from .panels import heat_map
from .style import FAINT, GREY, HATCHES, INK, LIGHT, PALETTE, TEXT_PALETTE, WHITE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def arrows(a: torch.Tensor, b: torch.Tensor, *, ax: Axes, title: str = "", limit: float = 3.2) -> Axes:
    """Vectors `a` and `b`, (2,), as arrows, with the projection of `b` on `a`."""
    points = {"a": _pair(a), "b": _pair(b)}
    (ax_, ay), (bx, by) = points["a"], points["b"]
    share = (ax_ * bx + ay * by) / (ax_ * ax_ + ay * ay)
    foot = (share * ax_, share * ay)
    ax.axline((0, 0), (ax_, ay), color=FAINT, linewidth=0.8)
    ax.plot([bx, foot[0]], [by, foot[1]], color=GREY, linestyle=":", linewidth=1.5)
    ax.plot([0, foot[0]], [0, foot[1]], color=PALETTE[4], linewidth=12, solid_capstyle="butt")
    # Where the arrows overlap, the wide one still shows, and the names are on both sides
    for look, (name, width, side) in enumerate((("a", 4.0, -1), ("b", 2.0, 1))):
        x, y = points[name]
        _arrow(ax, x, y, PALETTE[look], width)
        length = math.hypot(x, y) or 1.0
        ax.text(
            x + 0.3 * (x - side * y) / length,
            y + 0.3 * (y + side * x) / length,
            name,
            color=TEXT_PALETTE[look],
            ha="center",
            va="center",
            fontsize=12,
            fontweight="bold",
        )
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    ax.set_title(title.replace(" -", " −"))
    _bare(ax)
    return ax


def multiply_and_add(a: torch.Tensor, b: torch.Tensor, total: float) -> Figure:
    """Three rows of numbers, `a`, `b` and their products, and the sum of the products."""
    products = a * b
    figure, (ax,) = row(1, width=1.9 + 0.75 * len(a), height=1.9)
    table = torch.stack([a, b, products])
    heat_map(table, ax=ax, rows=["a", "b", "a × b"], kind="scores", numbers=True)
    ax.axhline(1.5, color=INK, linewidth=1.5)
    ax.text(
        len(a) - 0.3,
        2,
        f"add: {total:g}".replace("-", "−"),
        va="center",
        fontsize=12,
        fontweight="bold",
    )
    return figure


def one_cell(
    queries: torch.Tensor,
    keys: torch.Tensor,
    scores: torch.Tensor,
    i: int,
    j: int,
    *,
    query_names: Sequence[str],
    key_names: Sequence[str],
    meanings: Sequence[str],
) -> Figure:
    """Row `i` of queries, row `j` of keys and their cell (i, j) of scores, framed.

    queries (T, K), keys (S, K), scores (T, S); `meanings` names the K entries. All cells have the same size. With alt
    text.
    """
    columns, tallest = queries.shape[-1], max(len(queries), len(keys))
    shares = [columns, columns, len(keys)]
    figure, axes = row(3, width=3.3, height=0.45 * tallest + 0.9, ratios=shares)
    for ax, values, part, rows, names, title in (
        (axes[0], queries, "q", query_names, meanings, f"queries: row {i}"),
        (axes[1], keys, "k", key_names, meanings, f"keys: row {j}"),
        (axes[2], scores, "scores", query_names, key_names, f"scores: cell ({i}, {j})"),
    ):
        heat_map(values, ax=ax, rows=rows, columns=names, part=part, title=title)
        ax.set_ylim(tallest - 0.5, -0.5)
        ax.set_anchor("N")
    _frame(axes[0], i, 0, columns)
    _frame(axes[1], j, 0, columns)
    _frame(axes[2], i, j, 1)
    terms = [f"{_signed(x)} × {_signed(y)}" for x, y in zip(queries[i].tolist(), keys[j].tolist(), strict=True)]
    figure.supxlabel(f"{' + '.join(terms)} = {_signed(float(scores[i, j]))}", fontsize=10)
    count_t, count_s = scores.shape
    return with_alt_text(
        figure,
        f"Framed: the row {query_names[i]} of {count_t} queries, the row {key_names[j]} of {count_s} keys, and their "
        f"cell in the {count_t} by {count_s} matrix of scores, which holds {scores[i, j]:.2f}.",
    )


def who_answers(keys: torch.Tensor, names: Sequence[str], winners: Mapping[str, torch.Tensor]) -> Figure:
    """`territories` of the same keys by several rules, with alt text."""
    figure, axes = row(len(winners), width=4.4, height=4.3)
    for ax, (title, found) in zip(axes, winners.items(), strict=True):
        territories(keys, names, found, ax=ax, title=title)
    details = "; ".join(f"{title}: {_shares(found, names)}" for title, found in winners.items())
    return with_alt_text(
        figure,
        f"{len(keys)} arrows from one point, and a ring that shows which of them wins for a query in each direction. "
        f"Directions out of {len(next(iter(winners.values())))} that each wins: {details}.",
    )


def territories(keys: torch.Tensor, names: Sequence[str], winners: torch.Tensor, *, ax: Axes, title: str = "") -> Axes:
    """Keys, (S, 2), as arrows, and a ring with the winning key for each direction.

    `winners`, (N,), has the index of the winning key for N evenly spaced query directions, from 0 degrees.
    """
    from matplotlib.patches import Wedge

    step = 360 / len(winners)
    for first, count, key in _runs(winners.tolist()):
        begin, end = (first - 0.5) * step, (first + count - 0.5) * step
        ax.add_patch(
            Wedge(
                (0, 0),
                3.0,
                begin,
                end,
                width=0.55,
                facecolor=PALETTE[key % 6],
                hatch=HATCHES[key % 6],
                edgecolor=INK,
                linewidth=0.8,
            )
        )
        middle = math.radians((begin + end) / 2)
        _label(ax, 3.35 * math.cos(middle), 3.35 * math.sin(middle), names[key])
    for index, key in enumerate(keys):
        x, y = _pair(key)
        _arrow(ax, x, y, PALETTE[index % 6])
        length = math.hypot(x, y) or 1.0
        _label(ax, x + 0.2 * (x + y) / length, y + 0.2 * (y - x) / length, names[index])
    ax.set(xlim=(-4.1, 4.1), ylim=(-3.8, 3.8), aspect="equal", title=title)
    _bare(ax)
    return ax


def _shares(found: torch.Tensor, names: Sequence[str]) -> str:
    """Describe how often each key wins."""
    counts = torch.bincount(found, minlength=len(names)).tolist()
    return ", ".join(f"{name} {count or 'none'}" for name, count in zip(names, counts, strict=True))


def _runs(found: list[int]) -> list[tuple[int, int, int]]:
    """(first index, length, value) of each run of equal values, wrapping around."""
    changes = [i for i in range(len(found)) if found[i] != found[i - 1]] or [0]
    ends = [*changes[1:], changes[0] + len(found)]
    return [(begin, end - begin, found[begin]) for begin, end in zip(changes, ends, strict=True)]


def _pair(vector: torch.Tensor) -> tuple[float, float]:
    x, y = vector.detach().tolist()
    return x, y


def _arrow(ax: Axes, x: float, y: float, colour: str, width: float = 2.2) -> None:
    look: dict[str, Any] = {"arrowstyle": "-|>", "color": colour, "linewidth": width}
    ax.annotate("", (x, y), (0, 0), arrowprops={**look, "shrinkA": 0, "shrinkB": 0})


def _signed(value: float) -> str:
    """A number with two decimals; a negative one in brackets, so that it can follow a sign."""
    return f"{value:.2f}" if value >= 0 else f"(−{-value:.2f})"


def _label(ax: Axes, x: float, y: float, text: str) -> None:
    ax.text(x, y, text, ha="center", va="center", fontsize=10, fontweight="bold")


def _frame(ax: Axes, r: int, c: int, columns: int) -> None:
    from matplotlib.patches import Rectangle

    for colour, width in ((WHITE, 5.5), (INK, 2.5)):  # the white one shows on a dark cell
        look: dict[str, Any] = {"fill": False, "edgecolor": colour, "linewidth": width, "clip_on": False, "zorder": 5}
        ax.add_patch(Rectangle((c - 0.5, r - 0.5), columns, 1, **look))


def _bare(ax: Axes) -> None:
    """Draw a plane with its two axes and no numbers on them."""
    ax.axhline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
