"""Figures of matrix products and of broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch

from .base import grid, row, with_alt_text
from .panels import heat_map, of_one_size
from .shapes import arrow, cell, frame
from .style import BLACK, FAINT, GROUND, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VEIL = "#fdfdfd"  # over copied cells; white itself would turn dark on a dark page
Sign = Literal["+", "−", "×"]
_OPERATIONS: dict[Sign, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "+": torch.add,
    "−": torch.sub,
    "×": torch.mul,
}


def projections(
    x: torch.Tensor,
    W_q: torch.Tensor,
    W_k: torch.Tensor,
    W_v: torch.Tensor,
    words: Sequence[str] = (),
    features: Sequence[str] = (),
) -> Figure:
    """From x to q, k and v: three matrix products, one below the other, with alt text.

    x         (T, D)
    W_q, W_k  (D, Dk); for an `nn.Linear`, pass `layer.weight.T`
    W_v       (D, Dv)
    words     the T rows' names
    features  the D columns' names
    """
    x = x.detach()
    tokens, width = x.shape
    matrices = {"q": W_q.detach(), "k": W_k.detach(), "v": W_v.detach()}
    widest = max(matrix.shape[1] for matrix in matrices.values())
    limit = float(max(matrix.abs().max() for matrix in (x, *matrices.values(), *(x @ m for m in matrices.values()))))
    tallest = max(tokens, width)
    shares = [width + 3.0, widest + 3.0, widest + 3.0]  # in cells, with their labels
    figure, axes = grid(9, 3, width=0.45 * sum(shares) / 3, height=0.42 * (tallest + 1) + 0.75, ratios=shares)
    for line, (name, matrix) in enumerate(matrices.items()):
        result = x @ matrix
        for ax, values, part, rows, title in (
            (axes[3 * line], x, "x", words, "X"),
            (axes[3 * line + 1], matrix, "", features, f"$W_{name}$"),
            (axes[3 * line + 2], result, name, words, f"{name.upper()} = X $W_{name}$"),
        ):
            title = f"{title}  {_size(values)}"
            names: dict[str, Any] = {"rows": rows or None, "columns": features if features and part == "x" else None}
            heat_map(values, ax=ax, part=part, kind="scores", limit=limit, title=title, **names)
            ax.set_ylim(tallest + 0.5, -0.5)  # a gap below; cells of one size in all panels
            ax.set_anchor("W")
    of_one_size(axes)
    for place, ax in enumerate(axes):
        if place % 3 < 2:
            columns = width if place % 3 == 0 else matrices["qkv"[place // 3]].shape[1]
            _sign(ax, "@="[place % 3], columns, tallest)
    sizes = ", ".join(f"{name.upper()} {_size(x @ matrix)}" for name, matrix in matrices.items())
    return with_alt_text(
        figure,
        f"Three matrix products, one below the other. The same X, {_size(x)}, times W_q, W_k and W_v gives {sizes}.",
    )


def product(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    names: Sequence[str] = ("A", "B", "A @ B"),
    framed: int | None = None,
) -> Figure:
    """A matrix product, (T, S) @ (S, D), with alt text.

    `framed` is a row of `a`; a thick frame is drawn around it and around the row of the result that it makes.
    """
    a, b = (matrix.detach() for matrix in (a, b))
    tallest = max(len(a), len(b))
    shares = [matrix.shape[1] + 2.5 for matrix in (a, b, b)]  # in cells, with the sign after it
    figure, axes = row(3, width=max(1.9, 0.6 * sum(shares) / 3), height=0.8 + 0.5 * tallest, ratios=shares)
    limit = float(max(b.abs().max(), (a @ b).abs().max()))
    for ax, matrix, name, most in zip(axes, (a, b, a @ b), names, (None, limit, limit), strict=True):
        heat_map(matrix, ax=ax, kind="scores", limit=most, title=f"{name}  {_size(matrix)}")
        ax.set_ylim(tallest - 0.5, -0.5)  # cells of one size in all panels
    of_one_size(axes)
    for ax, text, matrix in ((axes[0], "@", a), (axes[1], "=", b)):
        _sign(ax, text, matrix.shape[1], tallest)
    if framed is not None:
        _frame_cells(axes[0], framed, 1, a.shape[1])
        _frame_cells(axes[2], framed, 1, b.shape[1])
    sizes = [f"{name}, {_size(matrix)}" for name, matrix in zip(names, (a, b, a @ b), strict=True)]
    around = "" if framed is None else f" A thick frame is around row {framed} of the first and of the last."
    return with_alt_text(figure, f"Three tables: {sizes[0]}, times {sizes[1]}, is {sizes[2]}.{around}")


def broadcast(a: torch.Tensor, b: torch.Tensor, sign: Sign = "+", names: tuple[str, str] = ("a", "b")) -> Figure:
    """Two tensors stretched to a common shape, and their result, with alt text.

    `a` and `b` have at most two dimensions. Their own cells have a thick frame, the copies are pale. `sign` is "+", "−"
    or "×"; `names` are those of `a` and `b`. Raises ValueError for shapes that cannot be broadcast.
    """
    if sign not in _OPERATIONS:
        raise ValueError(f"sign is {sign!r}; it must be one of {', '.join(_OPERATIONS)}")
    if max(a.ndim, b.ndim) > 2:
        raise ValueError(f"expected at most two dimensions, got the shapes {tuple(a.shape)} and {tuple(b.shape)}")
    a, b = (matrix.detach() for matrix in (a, b))
    try:
        wide_a, wide_b = (_two(wide) for wide in torch.broadcast_tensors(a, b))
    except RuntimeError:
        raise ValueError(f"the shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be broadcast") from None
    result = _OPERATIONS[sign](wide_a, wide_b)
    rows, columns = result.shape
    limit = max(float(matrix.abs().max()) for matrix in (a, b, result))
    figure, axes = row(3, width=1.1 + 0.5 * columns, height=1.2 + 0.5 * rows)
    for ax, values, given, name in ((axes[0], wide_a, a, names[0]), (axes[1], wide_b, b, names[1])):
        own, shape = _two(given), _size(given)
        stretched = own.shape != values.shape
        heat_map(values, ax=ax, kind="scores", limit=limit, title=f"{name}: {shape}{_arrow_to(values, stretched)}")
        _fade(ax, own.shape, values.shape)
    heat_map(result, ax=axes[2], kind="scores", limit=limit, title=f"{names[0]} {sign} {names[1]}: {_size(result)}")
    for ax in axes:
        ax.set_ylim(rows + 0.1, -0.5)  # room for an arrow below
    of_one_size(axes)
    for ax, text in ((axes[0], sign), (axes[1], "=")):
        _sign(ax, text, columns, rows)
    return with_alt_text(
        figure,
        f"{_stretching(names[0], a, result)}. {_stretching(names[1], b, result)}. "
        f"Then {names[0]} {sign} {names[1]} is computed cell by cell.",
    )


def _sign(ax: Axes, text: str, columns: int, rows: int) -> None:
    """Write a sign to the right of a map."""
    place = (columns - 0.5, rows / 2 - 0.5)
    shift: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
    ax.annotate(text, place, (11, 0), ha="center", va="center", fontsize=15, **shift)


def _two(values: torch.Tensor) -> torch.Tensor:
    """The tensor with two dimensions."""
    return values.reshape((1,) * (2 - values.ndim) + tuple(values.shape))


def _size(values: torch.Tensor) -> str:
    return f"({', '.join(map(str, values.shape))}{',' if values.ndim == 1 else ''})"


def _arrow_to(values: torch.Tensor, stretched: bool) -> str:
    return f" → {_size(values)}" if stretched else ""


def _fade(ax: Axes, own: torch.Size, whole: torch.Size) -> None:
    """Fade the copies, frame the original cells, and draw arrows along the stretching."""
    copied = [(r, c) for r in range(whole[0]) for c in range(whole[1]) if r >= own[0] or c >= own[1]]
    for r, c in copied:
        cell(ax, c, r, facecolor=VEIL, alpha=0.55, edgecolor="none", zorder=1.5)
    for text in ax.texts:
        if text.get_position()[::-1] in copied:
            text.set_color(BLACK)
    _frame_cells(ax, 0, own[0], own[1])
    if own[0] < whole[0]:
        arrow(ax, (-0.68, 0), (-0.68, whole[0] - 0.6), colour=FAINT, width=1.6, gap=2)
    if own[1] < whole[1]:
        arrow(ax, (0, whole[0] - 0.25), (whole[1] - 0.6, whole[0] - 0.25), colour=FAINT, width=1.6, gap=2)


def _frame_cells(ax: Axes, first: int, rows: int, columns: int) -> None:
    """Draw a frame around whole rows that is visible on cells of every colour, and on every page."""
    frame(ax, (-0.5, first - 0.5, columns, rows), (INK, 3.6), (GROUND, 1.2))


def _stretching(name: str, values: torch.Tensor, result: torch.Tensor) -> str:
    own, whole = _two(values).shape, result.shape
    ways = [f"{own[i]} {kind} to {whole[i]}" for i, kind in enumerate(("row", "column")) if own[i] != whole[i]]
    return f"{name} has the shape {_size(values)}" + (f" and is stretched from {' and '.join(ways)}" if ways else "")
