"""Figures of lesson 07: rotated vectors, clocks, scores by position, layouts.

All have alt text. Angles are counter-clockwise from the axis that points to the right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atan2, cos, degrees, hypot, pi, sin
from typing import TYPE_CHECKING

import torch

from .base import grid, row, with_alt_text
from .panels import heat_map, of_one_size
from .style import FAINT, GREY, INK, LIGHT, LINES, PALETTE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def turned(vectors: torch.Tensor, positions: Sequence[float]) -> Figure:
    """A vector at several positions: `vectors` (T, 2) as arrows with position labels."""
    reach = 1.35 * float(vectors.norm(dim=-1).max())
    figure, (ax,) = row(1, width=4.6, height=4.4)
    _plane(ax, reach)
    _circle(ax, float(vectors[0].norm()))
    for i, (vector, position) in enumerate(zip(vectors.tolist(), positions, strict=True)):
        _arrow(ax, vector, PALETTE[0] if i else PALETTE[1], LINES[0] if i else LINES[1])
        ax.text(*_beyond(vector, 0.13 * reach), f"{position:g}", ha="center", va="center", fontweight="bold")
    details = ", ".join(
        f"{position:g}: {_angle(v):.0f}°" for position, v in zip(positions, vectors.tolist(), strict=True)
    )
    return with_alt_text(
        figure,
        f"{len(vectors)} arrows of one length from one point, numbered by position, spread counter-clockwise over a "
        f"circle. Their directions: {details}.",
    )


def by_hand(before: torch.Tensor, after: torch.Tensor, angle: float) -> Figure:
    """A vector (2,) before and after a rotation by `angle` radians, with the arc between."""
    reach = 1.45 * max(float(before.norm()), float(after.norm()))
    figure, (ax,) = row(1, width=3.5, height=3.9)
    _plane(ax, reach)
    _circle(ax, float(before.norm()))
    _arrow(ax, before.tolist(), PALETTE[1], LINES[1])
    _arrow(ax, after.tolist(), PALETTE[0], LINES[0])
    first = atan2(float(before[1]), float(before[0]))
    steps = [first + angle * s / 48 for s in range(49)]
    radius = 0.3 * reach
    ax.plot([radius * cos(a) for a in steps], [radius * sin(a) for a in steps], color=INK, linewidth=1.2)
    to, start = (f"({v[0]:.2f}, {v[1]:.2f})".replace("-", "−") for v in (after.tolist(), before.tolist()))
    ax.set_title(f"angle {angle:.2f}: {to}".replace("-", "−"))
    return with_alt_text(
        figure,
        f"Two arrows from the origin: dashed the vector {start}, solid the result {to}. "
        f"The arc from one to the other is {degrees(angle):.0f}°.",
    )


def pair(query: torch.Tensor, key: torch.Tensor, at: tuple[float, float]) -> Figure:
    """A rotated query (2,) and key (2,) at the positions `at`, their angle and score."""
    score = float(query @ key)
    reach = 1.4 * max(float(query.norm()), float(key.norm()))
    figure, (ax,) = row(1, width=3.5, height=3.9)
    _plane(ax, reach)
    looks = {"query": (query, at[0], colour("q"), LINES[0]), "key": (key, at[1], colour("k"), LINES[1])}
    for name, (vector, position, shade, line) in looks.items():
        _arrow(ax, vector.tolist(), shade, line)
        place = _beyond(vector.tolist(), 0.2 * reach)
        ax.text(*place, f"{name}\nat {position:g}", ha="center", va="center", fontsize=SMALL)
    first, second = (atan2(v[1], v[0]) for v in (query.tolist(), key.tolist()))
    between = (second - first + pi) % (2 * pi) - pi
    steps = [first + between * s / 24 for s in range(25)]
    radius = 0.3 * reach
    ax.plot([radius * cos(a) for a in steps], [radius * sin(a) for a in steps], color=INK, linewidth=1.2)
    ax.set_title(f"gap {at[1] - at[0]:g}: score {score:.2f}".replace("-", "−"))
    return with_alt_text(
        figure,
        f"Two arrows: the query, at position {at[0]:g}, points to {_angle(query.tolist()):.0f}°, the key, at position "
        f"{at[1]:g}, to {_angle(key.tolist()):.0f}°. The angle from one to the other is {degrees(between):.0f}°, the "
        f"score {score:.2f}.",
    )


def clocks(frequencies: torch.Tensor, positions: Sequence[int]) -> Figure:
    """A row of clocks per position, one for each of `frequencies` (radians/position)."""
    speeds = [float(f) for f in frequencies]
    across = len(speeds)
    figure, faces = grid(len(positions) * across, across, width=1.25, height=1.12, beside=1.3, above=0.55)
    for line, position in enumerate(positions):
        axes = faces[line * across : (line + 1) * across]
        for i, (ax, speed) in enumerate(zip(axes, speeds, strict=True)):
            _face(ax, position * speed)
            if position == positions[0]:
                length = 2 * pi / speed
                ax.set_title(f"pair {i}\nonce in {length:,.0f}" if length >= 10 else f"pair {i}\nonce in {length:.2g}")
        axes[0].text(-1.9, 0, f"position\n{position:,}", ha="right", va="center")
    slow = sum(positions[-1] * speed < 2 * pi for speed in speeds)
    return with_alt_text(
        figure,
        f"A table of clocks: a row for each of the positions {', '.join(map(str, positions))}, a column for each of "
        f"{len(speeds)} pairs. The hand of pair 0 turns by {speeds[0]:.2g} radians a position, that of the last by "
        f"{speeds[-1]:.2g}. At position {positions[-1]}, {slow} of the hands have not yet been round once.",
    )


def score_tables(tables: Mapping[str, torch.Tensor], per_row: int = 3) -> Figure:
    """Scores of one query and key by their positions: tables (T, T), on one scale."""
    tables = {title: table.detach().double() for title, table in tables.items()}
    length = len(next(iter(tables.values())))
    limit = max(float(table.abs().max()) for table in tables.values())
    across = min(per_row, len(tables))
    figure, axes = grid(len(tables), across, width=0.5 + 0.36 * length, height=0.6 + 0.34 * length)
    names = [str(n) for n in range(length)]
    details = []
    for ax, (title, table) in zip(axes, tables.items(), strict=True):
        heat_map(table, ax=ax, part="scores", limit=limit, title=title, rows=names, columns=names)
        details.append(f"{title}: {_constant_along(table)}")
    of_one_size(axes)
    for ax in axes[::across]:
        ax.set_ylabel("position of the query")
    for ax in axes[-across:]:
        ax.set_xlabel("position of the key")
    return with_alt_text(
        figure,
        f"Tables of scores, position of the query down, of the key across, 0 to {length - 1}. {'; '.join(details)}.",
    )


def maps(panels: Mapping[str, torch.Tensor], words: Mapping[str, Sequence[str]], per_row: int = 2) -> Figure:
    """Weights (T, T) for each title, labelled with the words of its own sentence."""
    length = len(next(iter(panels.values())))
    figure, axes = grid(len(panels), per_row, width=1.3 + 0.47 * length, height=1.25 + 0.4 * length)
    for ax, (title, weights) in zip(axes, panels.items(), strict=True):
        heat_map(weights, ax=ax, part="weights", title=title, rows=words[title], columns=words[title], numbers=True)
        ax.set_xlabel("keys")
    for ax in axes[::per_row]:
        ax.set_ylabel("queries")
    details = []
    for title, weights in panels.items():
        most = zip(words[title], weights.argmax(-1).tolist(), strict=True)
        details.append(f"{title}: " + ", ".join(f"{query} looks most to {words[title][key]}" for query, key in most))
    return with_alt_text(figure, f"Heat maps of weights with words beside rows and columns. {'; '.join(details)}.")


def layouts(dim: int) -> Figure:
    """A vector's entries in both layouts, labelled by pair, with lines between them."""
    figure, (ax,) = row(1, width=0.85 * dim + 1.9, height=2.6)
    order = [*range(0, dim, 2), *range(1, dim, 2)]
    for below, numbers in ((1.6, range(dim)), (0.0, order)):
        for place, number in enumerate(numbers):
            _box(ax, place, below, number)
    for place, number in enumerate(order):
        ax.plot((number, place), (1.2, 0.4), color=PALETTE[number // 2 % len(PALETTE)], linestyle=LINES[number % 2])
    for below, name in ((1.6, "neighbours"), (0.0, "halves")):
        ax.text(-0.7, below, name, ha="right", va="center")
    ax.set(xlim=(-2.3, dim - 0.4), ylim=(-0.5, 2.1))
    ax.axis("off")
    listed = ", ".join(f"x{n}" for n in order)
    return with_alt_text(
        figure,
        f"Two rows of {dim} boxes. Above, x0 to x{dim - 1} in order, where boxes 0 and 1 make pair 0, boxes 2 and 3 "
        f"pair 1, and so on. Below, the same boxes in the order {listed}; lines lead from each box to its new place.",
    )


def _plane(ax: Axes, reach: float) -> None:
    """Draw two axes through the origin, equally scaled, from -reach to reach."""
    ax.axhline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="first number", ylabel="second number")


def _circle(ax: Axes, radius: float, colour: str = FAINT) -> None:
    around = [2 * pi * s / 120 for s in range(121)]
    ax.plot([radius * cos(a) for a in around], [radius * sin(a) for a in around], color=colour, linewidth=0.9, zorder=0)


def _arrow(ax: Axes, vector: Sequence[float], colour: str, line: object = "-") -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.0, "linestyle": line, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=(vector[0], vector[1]), xytext=(0, 0), arrowprops=look)


def _beyond(vector: Sequence[float], by: float) -> tuple[float, float]:
    """The point `by` beyond the tip of a vector."""
    length = hypot(*vector) or 1.0
    return vector[0] * (1 + by / length), vector[1] * (1 + by / length)


def _angle(vector: Sequence[float]) -> float:
    return degrees(atan2(vector[1], vector[0])) % 360


def _face(ax: Axes, angle: float) -> None:
    """Draw a clock without numbers, its hand at `angle` radians."""
    _circle(ax, 1.0, GREY)
    for quarter in range(4):
        c, s = cos(quarter * pi / 2), sin(quarter * pi / 2)
        ax.plot((0.86 * c, c), (0.86 * s, s), color=GREY, linewidth=1.0)
    ax.plot((0, 0.8 * cos(angle)), (0, 0.8 * sin(angle)), color=PALETTE[0], linewidth=2.2, solid_capstyle="round")
    ax.plot(0, 0, "o", color=PALETTE[0], markersize=3.5)
    ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    ax.axis("off")


def _box(ax: Axes, x: float, y: float, number: int) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    red, green, blue = (0.5 + 0.5 * v for v in to_rgb(PALETTE[number // 2 % len(PALETTE)]))
    light = (red, green, blue, 1.0)
    ax.add_patch(Rectangle((x - 0.4, y - 0.4), 0.8, 0.8, facecolor=light, edgecolor=INK, linewidth=0.8))
    ax.text(x, y + 0.12, f"x{number}", ha="center", va="center", color=ink_on(light), fontweight="bold")
    ax.text(x, y - 0.2, f"pair {number // 2}", ha="center", va="center", color=ink_on(light), fontsize=7.5)


def _constant_along(table: torch.Tensor) -> str:
    """Describe along which lines a square table is constant."""
    room = 1e-3 * float(table.abs().max())
    checks = {
        "the same everywhere": table - table[0, 0],
        "constant along each row": table - table[:, :1],
        "constant along each column": table - table[:1],
        "constant along the diagonals": table[1:, 1:] - table[:-1, :-1],
        "constant along the anti-diagonals": table[1:, :-1] - table[:-1, 1:],
    }
    return next(
        (text for text, change in checks.items() if float(change.abs().max()) <= room), "not constant along any line"
    )
