"""Curves, each with its own line style, marker and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch

from .base import plain, row, with_alt_text
from .style import GREY, LIGHT, LINES, MARKERS, PALETTE, SMALL, TEXT_PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One value per step, or a pair (x, y)
Curve = Sequence[float] | tuple[Iterable[float], Iterable[float]]
Names = Literal["ends", "legend", "none"]


def curves(
    x: Iterable[float] | None,
    ys: Mapping[str, Any],
    *,
    ax: Axes | None = None,
    names: Names = "ends",
    levels: Mapping[str, float] | None = None,
    limits: tuple[float, float] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
    log: bool | Literal["x", "y", "both"] = False,
) -> Axes:
    """Draw named curves: `ys` has values over a common `x`, or pairs (x, y) if None.

    The names are at the curves' right `ends`, in a `legend`, or omitted. Each of `levels` is a dotted line with its
    name and height. `limits` sets the vertical scale; `log` names the logarithmic axes, True means "y".
    """
    ax = ax or row(1, width=5.6, height=3.2)[1][0]
    if log in ("x", "both"):
        ax.set_xscale("log")
    if log in (True, "y", "both"):
        ax.set_yscale("log")
    drawn = {name: (plain(y[0]), plain(y[1])) if x is None else (plain(x), plain(y)) for name, y in ys.items()}
    for i, (name, (across, up)) in enumerate(drawn.items()):
        between = max(1, len(up) // 8)
        # Shift the markers, so that each of several equal curves shows its own
        _curve(ax, across, up, i % len(PALETTE), name, (i * between // len(drawn), between))
    ax.grid(color=LIGHT, linewidth=0.6)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if limits:
        ax.set_ylim(*limits)
    if levels and names == "ends" and log not in ("x", "both"):
        # Dotted lines end with the curves, before their names
        left, last = ax.get_xlim()[0], max(float(across.max()) for across, _ in drawn.values())
        ax.set_xlim(left, last + 0.01 * (last - left))
    for name, height in (levels or {}).items():
        level(ax, height, f"{name}: {height:.2f}", below=_lie_above(ax, height, drawn))
    if names == "ends":
        _name_ends(ax, drawn)
    elif names == "legend":
        ax.legend(frameon=False, fontsize=SMALL)
    return ax


def losses(
    runs: Mapping[str, Curve],
    levels: Mapping[str, float] | None = None,
    *,
    every: int = 1,
    ax: Axes | None = None,
    names: Names = "legend",
    ylabel: str = "loss",
    title: str = "",
    top: float | None = None,
) -> Axes:
    """Draw losses from 0: means of `every` values, or pairs (steps, losses).

    `levels` and `names` as in `curves`; `top` is the end of the axis. A new figure gets alt text.
    """
    whole, drawn = ax is None, {name: means(run, every) for name, run in runs.items()}
    if top is None:
        heights = plain([y for _, up in drawn.values() for y in up] + list((levels or {}).values()))
        top = 1.08 * max(heights[heights.isfinite()].tolist(), default=1.0)
    ax = ax or row(1, width=8.0, height=3.4)[1][0]
    curves(
        None,
        drawn,
        ax=ax,
        names=names,
        levels=levels,
        limits=(-0.03 * top, top),  # a loss of 0 is above the axis
        xlabel="step",
        ylabel=ylabel,
        title=title,
    )
    if whole:
        lines = ", ".join(f"{name} at {height:.2f}" for name, height in (levels or {}).items())
        with_alt_text(ax, f"Loss against step. {in_words(runs, every)}.{f' Dotted lines: {lines}.' if lines else ''}")
    return ax


def in_words(runs: Mapping[str, Curve], every: int = 1) -> str:
    """Describe curves from left to right, for alt text."""
    details = []
    for name, run in runs.items():
        values = means(run, every)[1]
        middle = values[len(values) // 3]
        details.append(f"{name} {values[0]:.2f} at first, {middle:.2f} after a third, {values[-1]:.2f} at the end")
    return "; ".join(details)


def level(ax: Axes, height: float, name: str = "", *, below: bool = False) -> None:
    """Draw a dotted line at a height, its name above its right end, or below it."""
    ax.axhline(height, color=GREY, linewidth=1.1, linestyle=":")
    if name:
        side = {"ha": "right", "va": "top" if below else "bottom"}
        note(ax, name, (0.995, height), (0, -4 if below else 4), xycoords=ax.get_yaxis_transform(), **side)


def note(ax: Axes, text: str, place: tuple[float, float], shift: tuple[float, float], **how: Any) -> None:
    """Write small text near a point; `shift` is in points, `how` goes to `annotate`."""
    ax.annotate(text, place, shift, textcoords="offset points", fontsize=SMALL, **how)


def means(run: Curve, every: int) -> tuple[list[float], list[float]]:
    """Means of `every` values (fewer at the end), at the middle of their steps."""
    if isinstance(run, tuple):
        return list(run[0]), list(run[1])
    pieces = [run[i : i + every] for i in range(0, len(run), every)]
    x = [i * every + (len(piece) + 1) / 2 for i, piece in enumerate(pieces)]
    return x, [float(sum(piece)) / len(piece) for piece in pieces]


def _curve(ax: Axes, across: torch.Tensor, up: torch.Tensor, look: int, name: str, marked: tuple[int, int]) -> None:
    ax.plot(
        across.numpy(),
        up.numpy(),
        color=PALETTE[look],
        linestyle=LINES[look],
        marker=MARKERS[look],
        markersize=4.5,
        markevery=marked,
        linewidth=1.8,
        label=name,
    )


def _lie_above(ax: Axes, height: float, drawn: Mapping[str, tuple[torch.Tensor, torch.Tensor]]) -> bool:
    """Whether a curve's right half would cross the name of a level above its line."""
    figure: Any = ax.figure
    pixels = figure.dpi / 72
    _, base = ax.transData.transform((1.0, height))
    points = [(float(x), float(y)) for xs, ys in drawn.values() for x, y in zip(xs[len(xs) // 2 :], ys[len(ys) // 2 :])]
    ups = ((y - base) / pixels for _, y in ax.transData.transform(points)) if points else ()
    return any(3 < up < 14 for up in ups)


def _name_ends(ax: Axes, drawn: Mapping[str, tuple[torch.Tensor, torch.Tensor]]) -> None:
    """Write each curve's name at its end, shifted where ends are close together."""
    ax.autoscale_view()
    figure: Any = ax.figure
    height = ax.get_position().height * figure.get_size_inches()[1] * 72  # approximate, in points
    placed = []
    for i, (name, (across, up)) in enumerate(drawn.items()):
        if up.isfinite().any():
            last = int(up.isfinite().nonzero()[-1])
            end = float(across[last]), float(up[last])
            lies = ax.transAxes.inverted().transform(ax.transData.transform(end))[1] * height
            placed.append((lies, name, end, TEXT_PALETTE[i % len(TEXT_PALETTE)]))
    previous = float("-inf")
    for lies, name, end, colour in sorted(placed):
        previous = max(lies, previous + 13)
        ax.annotate(
            name,
            end,
            (8, previous - lies),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )
