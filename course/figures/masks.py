"""Figures of lesson 05: masks, padded batches, weights under masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import grid, row
from .panels import heat_map, of_one_size
from .style import FAINT, INK, PALE, PALE_BLUE, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle


def tables(
    panels: Mapping[str, torch.Tensor],
    words: Sequence[str] = (),
    per_row: int = 3,
    stairs: bool = False,
) -> Figure:
    """Masks, bool (T, S), as tables of ✓ (may see) and ✗ (blocked, hatched).

    `words` names the S keys; the T queries have the names of the last T. `stairs` draws the border of the future.
    """
    masks = {title: mask.detach().cpu().bool() for title, mask in panels.items()}
    figure, axes = _tables([mask.shape for mask in masks.values()], per_row, cell=0.36, named=bool(words))
    for ax, (title, mask) in zip(axes, masks.items(), strict=True):
        names = list(words)[: mask.shape[1]]
        heat_map(
            torch.zeros(mask.shape),
            ax=ax,
            title=title,
            blocked=torch.ones_like(mask),
            rows=names[-mask.shape[0] :] if names else None,
            columns=names or None,
        )
        for i, j in torch.cartesian_prod(*map(torch.arange, mask.shape)).tolist():
            blocked = bool(mask[i, j])
            if not blocked:
                ax.add_patch(_cell(i, j, facecolor=PALE_BLUE, edgecolor="white"))
            ax.text(
                j,
                i,
                "✗" if blocked else "✓",
                ha="center",
                va="center",
                fontsize=12,
                color=INK,
                fontweight="bold",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": PALE, "edgecolor": "none"} if blocked else None,
            )
        if stairs:
            _stairs(ax, *mask.shape)
    return figure


def weights(
    panels: Mapping[str, tuple[torch.Tensor, torch.Tensor | None]],
    words: Sequence[str] = (),
    per_row: int = 3,
    cell: float = 0.44,
    stairs: bool = False,
) -> Figure:
    """Weights (T, S) as heat maps, each with its mask, bool (T, S), or None.

    `words` and `stairs` as in `tables`. Cells narrower than 0.3 inches have no room for numbers, and get a colour bar.
    """
    shapes = [values.shape for values, _ in panels.values()]
    figure, axes = _tables(shapes, per_row, cell=cell, named=bool(words))
    for ax, (title, (values, blocked)) in zip(axes, panels.items(), strict=True):
        names = list(words)[: values.shape[1]]
        heat_map(
            values,
            ax=ax,
            part="weights",
            title=title,
            blocked=blocked,
            numbers=cell >= 0.3,
            rows=names[-values.shape[0] :] if names else None,
            columns=names or None,
        )
        if stairs:
            _stairs(ax, *values.shape)
    return figure


def before_and_after(scores: torch.Tensor, blocked: torch.Tensor, after: torch.Tensor, words: Sequence[str]) -> Figure:
    """Maps (T, S): all scores, scores with blocked ones hatched, weights."""
    figure, axes = row(3, width=3.9, height=3.5)
    options: dict[str, Any] = {"rows": words[-scores.shape[0] :], "columns": words}
    limit = float(scores.detach().abs().max())
    heat_map(scores, ax=axes[0], part="scores", limit=limit, title="scores", **options)
    heat_map(
        scores,
        ax=axes[1],
        part="scores",
        limit=limit,
        blocked=blocked,
        title="scores, masked (hatched: −∞)",
        **options,
    )
    heat_map(after, ax=axes[2], part="weights", title="weights", blocked=blocked, **options)
    of_one_size(axes)
    axes[0].set_ylabel("queries")
    for ax in axes:
        ax.set_xlabel("keys")
    return figure


def sentences(texts: Sequence[Sequence[str]], lengths: Sequence[int], width: int) -> Figure:
    """A padded batch: one row per sentence, one cell per token, padding hatched."""
    figure, (ax,) = row(1, width=1.1 * width + 0.9, height=0.46 * len(texts) + 0.5)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(len(texts) - 0.5, -0.5))
    ax.set_xticks(range(width))
    ax.set_yticks(range(len(texts)), [f"length {length}" for length in lengths])
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    for r, (text, length) in enumerate(zip(texts, lengths, strict=True)):
        for c in range(width):
            real = c < length
            look = {"facecolor": PALE_BLUE} if real else {"facecolor": PALE, "hatch": "///"}
            ax.add_patch(_cell(r, c, edgecolor="white" if real else FAINT, linewidth=0, **look))
            ax.text(
                c,
                r,
                text[c] if real else "pad",
                ha="center",
                va="center",
                color=INK,
                style="normal" if real else "italic",
                bbox=None if real else {"boxstyle": "round,pad=0.15", "fc": PALE, "ec": "none"},
            )
    return figure


def _cell(r: int, c: int, **look: Any) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((c - 0.5, r - 0.5), 1, 1, **look)


def _stairs(ax: Axes, T: int, S: int) -> None:
    """Draw the border of the future; queries are the last T of S positions."""
    across = [place for i in range(T) for place in 2 * [S - T + i + 0.5]] + [S - 0.5]
    down = [-0.5] + [place for i in range(T) for place in 2 * [i + 0.5]]
    for width, colour in ((4.5, "white"), (2.2, PALETTE[1])):
        ax.plot(across, down, color=colour, linewidth=width, solid_capstyle="butt", clip_on=False)


def _tables(shapes: Sequence[torch.Size], per_row: int, cell: float, named: bool) -> tuple[Figure, list[Axes]]:
    """Make panels for tables of these shapes, with cells of `cell` inches."""
    width = max(1.2, *(cell * across for _, across in shapes)) + (0.95 if named else 0.3)
    height = max(cell * down for down, _ in shapes) + (1.15 if named else 0.55)
    across = min(per_row, len(shapes))
    figure, axes = grid(len(shapes), across, width=width, height=height, beside=0.2, above=0.2)
    figure.set_layout_engine("constrained", h_pad=0.14)  # the layout underestimates titles above slanted labels
    for ax in axes[::across]:
        ax.set_ylabel("queries")
    for ax in axes[-across:]:
        ax.set_xlabel("keys")
    return figure, axes
