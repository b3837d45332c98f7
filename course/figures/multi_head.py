"""Figures of multi-head attention: outputs in reach, heads' columns, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .base import row, with_alt_text
from .lines import in_words, losses, note
from .panels import bars, heat_map
from .style import FAINT, GREY, HATCHES, INK, MARKERS, PALE, PALE_BLUE, PALETTE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def reach(reached: Mapping[str, torch.Tensor], values: torch.Tensor, wanted: torch.Tensor) -> Figure:
    """Outputs (n, 2) as dots, `values` (2, 2) and `wanted` (2,), a panel per entry."""
    figure, panels = row(len(reached), width=3.3, height=3.4)
    for ax, (title, outputs) in zip(panels, reached.items(), strict=True):
        across, up = outputs.detach().double().unbind(-1)
        ax.plot(across, up, ".", color=colour("output"), markersize=5, alpha=0.5)
        for name, value in zip(("value 0", "value 1"), values.tolist(), strict=True):
            ax.plot(*value, MARKERS[1], color=colour("v"), markersize=8)
            note(ax, name, value, (8, 6))
        ax.plot(*wanted.tolist(), "*", color=PALETTE[1], markersize=16, markeredgecolor=INK)
        note(ax, "wanted", tuple(wanted.tolist()), (-12, 11), ha="center")
        ax.set(xlim=(-0.2, 1.45), ylim=(-0.2, 1.3), xticks=[0, 1], yticks=[0, 1], aspect="equal")
        ax.set(title=title, xlabel="colour", ylabel="shape")
    return figure


def owners(maps: Mapping[str, torch.Tensor], rows: Sequence[str]) -> Figure:
    """Tables of the head of each cell: each of `maps` is (T, D) integers."""
    tokens, width = next(iter(maps.values())).shape
    figure, panels = row(len(maps), width=1.4 + 0.42 * width, height=1.0 + 0.42 * tokens)
    for ax, (title, heads) in zip(panels, maps.items(), strict=True):
        for t in range(tokens):
            for d in range(width):
                _owned_cell(ax, d, t, int(heads[t, d]))
        ax.set(xlim=(-0.5, width - 0.5), ylim=(tokens - 0.5, -0.5), aspect="equal")
        ax.set_xticks(range(width), [str(d) for d in range(width)])
        ax.set_yticks(range(tokens), list(rows))
        ax.tick_params(length=0, labeltop=True, labelbottom=False)
        ax.spines[:].set_visible(False)
        ax.set_title(title, pad=8)
    return figure


def addresses(stages: Mapping[str, torch.Tensor], band: int, width: int) -> Figure:
    """Tables of addresses: each of `stages` is (T, D) or (H, T, K) integers, one panel per title.

    The shade of a cell, and its number of dots, say whose number it is: head h owns the columns from h * band of a
    matrix with `width` columns.
    """
    tables = {title: cells if cells.ndim == 3 else cells[None] for title, cells in stages.items()}
    gap = 0.9  # between two heads
    tall = max(n * (rows + gap) for n, rows, _ in (cells.shape for cells in tables.values()))
    wide = [cells.shape[2] + 1.6 for cells in tables.values()]
    unit = min(0.4, 11.0 / sum(wide))
    figure, panels = row(len(tables), width=unit * sum(wide) / len(wide), height=unit * tall + 0.75, ratios=wide)
    for ax, (title, cells) in zip(panels, tables.items(), strict=True):
        rows, columns = cells.shape[1:]
        for h, table in enumerate(cells.tolist()):
            top = h * (rows + gap)
            if stages[title].ndim == 3:
                ax.text(-0.5, top - 0.62, f"head {h}", ha="left", va="bottom", fontsize=SMALL)
            for r, line in enumerate(table):
                for c, address in enumerate(line):
                    _address_cell(ax, c, top + r, address, address % width // band)
        ax.set(xlim=(-0.7, columns - 0.3), ylim=(tall - 0.4, -1.5))
        ax.set_aspect("equal", anchor="N")
        ax.set_title(title, fontsize=SMALL)
        ax.axis("off")
    return figure


def packed(n_heads: int, tokens: int, width: int) -> Figure:
    """`X` times a packed matrix gives the heads' columns side by side: three grids."""
    figure, (ax,) = row(1, width=9.2, height=3.6)
    share = width // n_heads
    x = 0.0
    for name, height, banded, sign in (
        (f"$\\mathbf{{X}}$\n({tokens}, {width})", tokens, False, "@"),
        (f"$\\mathbf{{W}}_q$\n({width}, {width})", width, True, "="),
        (f"$\\mathbf{{Q}} = \\mathbf{{X}}\\,\\mathbf{{W}}_q$\n({tokens}, {width})", tokens, True, ""),
    ):
        top = (width - height) / 2
        for r in range(height):
            for d in range(width):
                _owned_cell(ax, x + d, top + r, d // share if banded else None, number=False)
        if banded:
            for h in range(n_heads):
                middle = x + h * share + share / 2 - 0.5
                ax.text(middle, top - 0.9, f"head {h}", ha="center", va="bottom", fontsize=SMALL)
        ax.text(x + width / 2 - 0.5, top + height + 0.1, name, ha="center", va="top")
        ax.text(x + width + 1.0, width / 2 - 0.5, sign, ha="center", va="center", fontsize=18)
        x += width + 3
    ax.set(xlim=(-1, x - 2), ylim=(width + 1.8, -2.0), aspect="equal")
    ax.axis("off")
    return figure


def shapes(steps: Sequence[tuple[str, str]]) -> Figure:
    """A tensor's shapes as a row of boxes: each step is (operation, resulting shape)."""
    from matplotlib.patches import FancyBboxPatch

    figure, (ax,) = row(1, width=9.6, height=1.5)
    for i, (done, shape) in enumerate(steps):
        ax.add_patch(
            FancyBboxPatch(
                (i - 0.36, -0.24),
                0.72,
                0.48,
                boxstyle="round,pad=0.02",
                facecolor=PALE_BLUE,
                edgecolor=PALETTE[0],
                linewidth=1.2,
            )
        )
        ax.text(i, 0, shape, ha="center", va="center", fontsize=SMALL)
        ax.text(i if i == 0 else i - 0.5, 0.38, done, ha="center", va="bottom", fontsize=SMALL)
        if i:
            ax.annotate("", (i - 0.39, 0), (i - 0.61, 0), arrowprops={"arrowstyle": "->"})
    ax.set(xlim=(-0.5, len(steps) - 0.5), ylim=(-0.4, 0.8))
    ax.axis("off")
    return figure


def side_by_side(
    weights: torch.Tensor,
    *,
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    blocked: torch.Tensor | None = None,
) -> Figure:
    """One heat map per head of `weights` (H, T, S); only the first has row labels."""
    columns = columns or rows
    cells = max(2.0, 0.42 * len(columns))
    slanted = max(map(len, columns)) > 2
    # The labels of the first map take their room from all maps
    figure, panels = row(
        len(weights),
        width=cells + 0.1 + 0.7 / len(weights),
        height=0.42 * len(rows) + (1.2 if slanted else 0.9),
    )
    for h, ax in enumerate(panels):
        heat_map(
            weights[h],
            ax=ax,
            rows=rows if h == 0 else None,
            columns=columns,
            blocked=blocked,
            part="weights",
            title=titles[h] if titles else f"head {h}",
        )
        ax.set_xlabel("keys")
    panels[0].set_ylabel("queries")
    return figure


def by_number(runs: Mapping[int, Sequence[float]], floor: float) -> Figure:
    """Losses by number of heads: curves for one and two, final losses for all.

    `runs` has the loss of each step, `floor` is the loss that one head cannot go below. With alt text.
    """
    reached = {n: sum(run[-20:]) / 20 for n, run in runs.items()}
    figure, (left, right) = row(2, width=4.2, height=3.0)
    curves = {f"{n} head{'s' * (n > 1)}": runs[n] for n in (1, 2)}
    losses(
        curves, {"the floor for one head": floor}, every=10, ax=left, ylabel="training loss", title="one head and two"
    )
    bars(list(reached.values()), list(map(str, reached)), ax=right, title="mean of the last 20 steps")
    right.set(xlabel="number of heads", ylabel="training loss")
    details = ", ".join(f"{loss:.3f} for {n}" for n, loss in reached.items())
    return with_alt_text(
        figure,
        f"Left, loss against step: {in_words(curves, 10)}. Right, bars: by number of heads the loss is {details}.",
    )


def looks(weights: torch.Tensor, words: Sequence[str], query: int, titles: Sequence[str]) -> Figure:
    """One query's attention: lines as wide as its weights, of `weights` (H, T, T).

    One panel per head, with the words as queries on the left and as keys on the right. Other queries' lines are faint.
    The chosen query's weights are next to the keys.
    """
    figure, panels = row(len(weights), width=2.5, height=0.75 + 0.36 * len(words))
    for h, ax in enumerate(panels):
        for t in range(len(words)):
            for s in range(len(words)):
                weight, chosen = float(weights[h, t, s]), t == query
                if weight > 0.02:
                    ax.plot(
                        (0, 1),
                        (t, s),
                        color=colour("weights") if chosen else FAINT,
                        linewidth=max(0.6, 5 * weight) if chosen else 2 * weight,
                        zorder=2 if chosen else 1,
                        solid_capstyle="round",
                    )
        for t, word in enumerate(words):
            heavy = "bold" if t == query else "normal"
            ax.text(-0.06, t, word, ha="right", va="center", fontsize=SMALL, fontweight=heavy)
            weight = float(weights[h, query, t])
            note = f"{word}  {weight:.2f}" if weight >= 0.005 else word
            shade = INK if weight >= 0.005 else GREY
            ax.text(1.06, t, note, ha="left", va="center", fontsize=SMALL, color=shade)
        ax.set(xlim=(-0.85, 2.15), ylim=(len(words) - 0.4, -0.6), title=titles[h])
        ax.axis("off")
    return figure


def _owned_cell(ax: Axes, x: float, y: float, head: int | None, number: bool = True) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    mixed = [0.45 + 0.55 * part for part in to_rgb(PALETTE[(head or 0) % len(PALETTE)])]  # with white
    colour: Any = PALE if head is None else (*mixed, 1.0)
    hatch = "" if head is None or number else HATCHES[head % len(HATCHES)]
    ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", hatch=hatch, linewidth=1))
    if number and head is not None:
        ax.text(x, y, str(head), ha="center", va="center", color=ink_on(colour))


def _address_cell(ax: Axes, x: float, y: float, address: int, head: int) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    ground: Any = (*(0.45 + 0.55 * part for part in to_rgb(PALETTE[head % len(PALETTE)])), 1.0)  # with white
    ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=ground, edgecolor="white", linewidth=1))
    ax.text(x, y + 0.05, str(address), ha="center", va="center", color=ink_on(ground), fontsize=SMALL)
    for dot in range(head):
        ax.plot(x + 0.34 - 0.2 * dot, y - 0.34, "o", color=ink_on(ground), markersize=2.2)
