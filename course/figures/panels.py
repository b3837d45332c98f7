"""Panels of cells and of bars.

Small maps show their numbers, large ones a colour bar, blocked cells are hatched, and dark is high. Weights always have
the scale 0 to 1, so that maps can be compared by eye; the scale of scores is symmetric about 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch

from . import shapes
from .base import plain, row
from .shapes import cell, write
from .style import FAINT, GREY, PALE, PALETTE, cell_colours, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def heat_map(
    values: torch.Tensor,
    *,
    ax: Axes | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    part: str = "",
    kind: Literal["weights", "scores", "amounts"] | None = None,
    blocked: torch.Tensor | None = None,
    title: str = "",
    numbers: bool | None = None,
    size: tuple[float, float] | None = None,
    limit: float | None = None,
) -> Axes:
    """A matrix as coloured cells, row 0 on top.

    `values` is (R, C). `part` is what they are: one of `style.PARTS`, whose colour the frame gets. `kind` sets the
    scale, by default "scores" if `part` is anything but weights, else "weights". Dark cells are high. "weights" have
    the scale 0 to 1; "scores", and all signed numbers, -limit to limit; "amounts", which are never negative, 0 to
    limit. `limit` is the largest finite magnitude by default (give it to compare two maps). `blocked`, bool (R, C), is
    True for hatched cells. Maps of at most 64 cells show numbers, unless `numbers` says otherwise; others get a colour
    bar. `size` is (width, height) in inches if there is no `ax`.
    """
    kind = kind or ("scores" if part not in ("", "weights") else "weights")
    cells = plain(values)
    if cells.ndim != 2:
        raise ValueError(f"values has the shape {tuple(cells.shape)}; a heat map needs (rows, columns)")
    hidden = torch.zeros_like(cells, dtype=torch.bool)
    if blocked is not None:
        hidden = torch.as_tensor(blocked).detach().cpu().bool().expand(cells.shape)
    if ax is None:
        width, height = size or (1.2 + 0.5 * cells.shape[1], 0.9 + 0.45 * cells.shape[0])
        ax = row(1, width=min(width, 9.0), height=min(height, 9.0))[1][0]
    low, high, colours = _scale(cells[~hidden], kind, limit)
    image = ax.imshow(
        cells.masked_fill(hidden | ~cells.isfinite(), float("nan")).numpy(),
        cmap=colours,
        vmin=low,
        vmax=high,
        interpolation="none",
    )
    _frame(ax, cells.shape, rows, columns, title)
    for r, c in hidden.nonzero().tolist():
        cell(ax, c, r, facecolor=PALE, edgecolor=FAINT, hatch="///", linewidth=0)
    if part:
        frame(ax, part, (-0.5, -0.5, cells.shape[1], cells.shape[0]))
    if numbers if numbers is not None else cells.numel() <= 64:
        _write_numbers(ax, image, cells, hidden, signed=kind == "scores")
    else:
        ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04)
    return ax


def bars(
    values: torch.Tensor | Iterable[float],
    labels: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    part: str = "",
    title: str = "",
    limit: float | tuple[float, float] | None = None,
) -> Axes:
    """One bar per value of `values`, (N,), with its number at its end.

    `part` is what they are, one of `style.PARTS`, and sets the colour. `limit` sets the vertical scale: a pair, or one
    number for 0 to limit (-limit to limit if a value is negative).
    """
    heights = plain(values)
    if heights.ndim != 1:
        raise ValueError(f"values has the shape {tuple(heights.shape)}; bars need (N,)")
    ax = ax or row(1, width=1.0 + 0.6 * len(heights))[1][0]
    negative = bool((heights < 0).any())
    finite = heights.nan_to_num(0.0, 0.0, 0.0)
    drawn = ax.bar(range(len(heights)), finite.tolist(), color=colour(part) if part else PALETTE[0], width=0.7)
    texts = [_number(v, _decimals(heights)) for v in heights.tolist()]
    ax.bar_label(drawn, texts, padding=2, fontsize=9)
    ax.set_xticks(range(len(heights)), list(labels) if labels is not None else None)
    ax.axhline(0, color=GREY, linewidth=0.8)
    if limit is None:
        ax.margins(y=0.15)
    else:
        ax.set_ylim(limit if isinstance(limit, tuple) else (-limit if negative else 0, limit))
    ax.set_title(title)
    return ax


def maps(
    panels: Mapping[str, torch.Tensor], *, width: float = 3.2, height: float = 2.8, **look: Any
) -> tuple[Figure, list[Axes]]:
    """Heat maps in a row, one per title, each `width` by `height` inches; `look` goes to `heat_map`."""
    figure, axes = row(len(panels), width=width, height=height)
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        heat_map(values, ax=ax, title=title, **look)
    return figure, axes


def charts(
    panels: Mapping[str, torch.Tensor],
    labels: Sequence[str],
    *,
    width: float = 3.2,
    height: float = 2.8,
    turned: float = 0,
    **look: Any,
) -> tuple[Figure, list[Axes]]:
    """Bars (N,) in a row of panels, one per title; `labels` are `turned` by degrees, `look` goes to `bars`."""
    figure, axes = row(len(panels), width=width, height=height)
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        bars(values, labels, ax=ax, title=title, **look)
        ax.tick_params(axis="x", rotation=turned)
    return figure, axes


def never_seen(weights: torch.Tensor) -> torch.Tensor | None:
    """The later positions, bool (T, T), if maps (..., T, T) have no weight on any of them, as under a causal mask."""
    future = torch.ones(weights.shape[-2:], dtype=torch.bool).triu(1)
    return None if weights.detach().cpu()[..., future].any() else future


def frame(ax: Axes, part: str, box: tuple[float, float, float, float]) -> None:
    """Draw a frame in the colour of a part of attention around `box`: x, y, width, height."""
    shapes.frame(ax, box, (colour(part), 2.4), zorder=3)


def small_map(
    ax: Axes, values: torch.Tensor, box: tuple[float, float, float, float], *, weights: bool, limit: float = 0.0
) -> None:
    """Draw a matrix (R, C) without numbers into `box`: left, top, width, height.

    `top` is the edge beside row 0, in an `ax` whose vertical axis points up. `limit` as in `heat_map`; cells of −∞ are
    hatched.
    """
    from matplotlib.patches import Rectangle

    cells = plain(values)
    low, high, colours = _scale(cells, "weights" if weights else "scores", limit)
    left, top, width, height = box[0], box[1], box[2] / cells.shape[1], box[3] / cells.shape[0]
    for r, line in enumerate(cells.tolist()):
        for c, value in enumerate(line):
            look: dict[str, Any] = {"facecolor": colours((value - low) / (high - low)), "linewidth": 0}
            if value == float("-inf"):
                look = {"facecolor": PALE, "edgecolor": FAINT, "hatch": "/////", "linewidth": 0}
            ax.add_patch(Rectangle((left + c * width, top - (r + 1) * height), width, height, zorder=2.5, **look))


def of_one_size(panels: Iterable[Axes]) -> None:
    """Set the numbers of all panels to the smallest font size among them."""
    texts: list[Any] = [text for ax in panels for text in ax.texts]
    smallest = min((text.get_fontsize() for text in texts), default=0)
    for text in texts:
        text.set_fontsize(smallest)


def _scale(shown: torch.Tensor, kind: str, limit: float | None) -> tuple[float, float, Any]:
    colours = cell_colours(kind)
    if kind == "weights":
        return 0.0, 1.0, colours
    finite = shown[shown.isfinite()]
    high = limit or (float(finite.abs().max()) if finite.numel() else 0.0) or 1.0
    return -high if kind == "scores" else 0.0, high, colours


def _frame(
    ax: Axes,
    shape: torch.Size,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    title: str,
) -> None:
    """Add labels beside and above the cells, and thin white lines between them."""
    ax.set_title(title, pad=8)
    ax.tick_params(top=False, bottom=False, left=False, labeltop=True, labelbottom=False)
    ax.tick_params(which="minor", top=False, bottom=False, left=False)
    for axis, count, names in ((ax.yaxis, shape[0], rows), (ax.xaxis, shape[1], columns)):
        if names is None:
            axis.set_ticks([])
        else:
            axis.set_ticks(range(count), [str(name) for name in names])
        if count <= 40:
            axis.set_ticks([i - 0.5 for i in range(1, count)], minor=True)
    if columns is not None and max(len(str(name)) for name in columns) > 4:
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="left", rotation_mode="anchor")
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.spines[:].set_visible(False)


def _write_numbers(ax: Axes, image: Any, cells: torch.Tensor, hidden: torch.Tensor, *, signed: bool) -> None:
    """Write the numbers; `signed` reserves room for a minus, for equal font sizes."""
    shown = (~hidden).nonzero().tolist()
    # A cell's side in points, roughly: labels and title take some of the panel
    figure: Any = ax.figure
    panel, inches = ax.get_position(), figure.get_size_inches()
    side = 54 * min(panel.width * inches[0] / cells.shape[1], panel.height * inches[1] / cells.shape[0])
    decimals = _decimals(cells[~hidden])
    while True:
        texts = [_number(float(cells[r, c]), decimals) for r, c in shown]
        longest = max((len(text.lstrip("−")) + signed for text in texts), default=1)
        size = min(10.0, side / (0.62 * longest))
        if size >= 7 or decimals < 2 or bool((cells[~hidden].abs() <= 1).all()):
            break
        decimals -= 1  # one legible decimal is better than two illegible ones
    for (r, c), text in zip(shown, texts, strict=True):
        ground = image.cmap(image.norm(cells[r, c].nan_to_num(posinf=0, neginf=0).item()))
        ground = ground if cells[r, c].isfinite() else image.cmap(float("nan"))
        write(ax, c, r, text, fontsize=max(6.0, size), color=ink_on(ground))


def _decimals(values: torch.Tensor) -> int:
    """Number of decimals: none for whole numbers, two below 10, fewer above."""
    finite = values[values.isfinite()]
    if not finite.numel() or bool((finite == finite.round()).all()):
        return 0
    greatest = float(finite.abs().max())
    return 2 if greatest < 10 else 1 if greatest < 100 else 0


def _number(value: float, decimals: int) -> str:
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.0e}"
    if not float(text):
        text = text.lstrip("-")  # no "-0.00"
    return text.replace("-", "−")
