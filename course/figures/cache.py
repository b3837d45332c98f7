"""Figures of lesson 09: rows of a cache, levels of memory, a roofline, and the time of one step.

All have alt text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .base import row, with_alt_text
from .style import FAINT, GREY, GROUND, HATCHES, INK, LIGHT, PALE, PALETTE, SMALL, colour, ink_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Name, bytes per second in TB, size
LEVELS = (
    ("memory on the chip", 19.0, "20 MB"),
    ("the GPU's memory (HBM)", 1.5, "40 GB"),
    ("the computer's memory", 0.0128, "over 1,000 GB"),
)
H100 = (989.0, 3.35)  # operations and bytes per second, in trillions


def append_or_write(n: int) -> Figure:
    """How a cache of `n` tokens is filled: by appending, and in memory made once. One column per new token."""
    figure, axes = row(2, width=4.0, height=0.45 * n + 0.9)
    titles = ("appending: all rows, each time", "made once: one row each time")
    for appending, ax, title in zip((True, False), axes, titles, strict=True):
        for c in range(n):
            for r in range(c + 1 if appending else n):
                new = appending or r == c
                _cell(ax, r, c, str(r) if r <= c else "", "new" if new else "kept")
        _frame(ax, n, n, title)
        ax.set_xticks(range(n), [f"{c + 1}" for c in range(n)])
        ax.set_xlabel("tokens so far")
    axes[0].set_ylabel("row (position)")
    return with_alt_text(
        figure,
        f"Two tables with a column per new token, 1 to {n}, and a row per position. Appending: each column has as many "
        f"cells as tokens so far, all of them written, {n * (n + 1) // 2} in total. Memory made once: each column has "
        f"{n} cells, of which one is written, {n} in total; the others are left as they are.",
    )


def slots(states: Mapping[str, Sequence[int]]) -> Figure:
    """The position in each row of a buffer, one column per state; -1 is an empty row. Rows that changed are solid."""
    names, columns = list(states), [list(positions) for positions in states.values()]
    length = len(columns[0])
    figure, (ax,) = row(1, width=0.95 * len(names) + 0.8, height=0.5 * length + 0.9)
    before = [-1] * length
    for c, column in enumerate(columns):
        for r, position in enumerate(column):
            state = "empty" if position < 0 else "new" if position != before[r] else "kept"
            _cell(ax, r, c, "" if position < 0 else str(position), state)
        before = column
    _frame(ax, length, len(names), "")
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("row")
    details = "; ".join(
        f"{name}: {', '.join('empty' if p < 0 else str(p) for p in column)}"
        for name, column in zip(names, columns, strict=True)
    )
    return with_alt_text(figure, f"The positions in the {length} rows of a buffer. {details}.")


def hierarchy() -> Figure:
    """Three levels of memory: the faster, the smaller."""
    from matplotlib.patches import Polygon

    figure, (ax,) = row(1, width=7.4, height=2.9)
    widths = (1.3, 2.6, 3.9, 5.2)
    for level, (name, speed, size) in enumerate(LEVELS):
        top, bottom = 3 - level, 2 - level + 0.06
        left = [(-widths[level] / 2, top), (widths[level] / 2, top)]
        right = [(widths[level + 1] / 2, bottom), (-widths[level + 1] / 2, bottom)]
        ground = (PALETTE[0], PALETTE[5], PALE)[level]
        ax.add_patch(Polygon(left + right, facecolor=ground, edgecolor=GREY, linewidth=0.8))
        shown = f"{speed:g} TB/s" if speed >= 1 else f"{1000 * speed:g} GB/s"
        ax.text(0, (top + bottom) / 2 - 0.08, size, ha="center", va="center", color=_ink(ground), fontweight="bold")
        ax.text(-2.9, (top + bottom) / 2, name, ha="right", va="center", color=INK)
        ax.text(2.9, (top + bottom) / 2, f"read at {shown}", ha="left", va="center", color=INK)
    ax.annotate(
        "faster", (5.3, 2.9), (5.3, 0.2), ha="center", va="center", color=GREY, fontsize=SMALL, arrowprops=_arrow()
    )
    ax.annotate(
        "larger", (-6.1, 0.1), (-6.1, 2.8), ha="center", va="center", color=GREY, fontsize=SMALL, arrowprops=_arrow()
    )
    ax.set(xlim=(-6.6, 5.8), ylim=(-0.05, 3.1))
    ax.axis("off")
    details = "; ".join(
        f"{name}, {size}, {f'{speed:g} TB' if speed >= 1 else f'{1000 * speed:g} GB'} per second"
        for name, speed, size in LEVELS
    )
    return with_alt_text(
        figure, f"A pyramid of three levels of memory, from small and fast to large and slow: {details}."
    )


def roofline(points: Mapping[str, float], peak: float = H100[0], bandwidth: float = H100[1]) -> Figure:
    """The most operations per second against operations per byte, with a name for some intensities.

    peak, bandwidth  trillions of operations and of bytes per second, by default an H100's
    """
    figure, (ax,) = row(1, width=7.4, height=3.6)
    corner, ends = peak / bandwidth, (0.4, 20000.0)
    ax.plot([ends[0], corner], [ends[0] * bandwidth, peak], color=PALETTE[0], linewidth=2.2)
    ax.plot([corner, ends[1]], [peak, peak], color=PALETTE[1], linewidth=2.2, linestyle="--")
    ax.axvline(corner, color=GREY, linestyle=":", linewidth=1.0)
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=(1, 4 * peak))
    said = []
    for name, intensity in points.items():
        height = min(peak, intensity * bandwidth)
        ax.plot([intensity], [height], marker="o", color=INK, markersize=6)
        above = intensity > corner
        ax.annotate(
            f"{name}: {_percent(height / peak)}",
            (intensity, height),
            (0, 9) if above else (9, -4),
            textcoords="offset points",
            ha="center" if above else "left",
            va="bottom" if above else "top",
            fontsize=SMALL,
            color=INK,
        )
        said.append(f"{name}, {intensity:g} operations per byte, {_percent(height / peak)} of the peak")
    ax.text(0.55, 6 * bandwidth, "bound by memory", fontsize=SMALL, color=INK, ha="left", va="center")
    ax.text(
        1.15 * corner,
        1.6,
        f"corner: {corner:.0f} operations per byte",
        fontsize=SMALL,
        color=INK,
        ha="left",
        va="bottom",
    )
    ax.text(1.15 * corner, 0.45 * peak, "bound by the processor", fontsize=SMALL, color=INK, ha="left", va="center")
    ax.set(xlabel="operations per byte that is read", ylabel="trillion operations per second")
    ax.grid(color=LIGHT, linewidth=0.6)
    return with_alt_text(
        figure,
        "Operations per second against operations per byte, both logarithmic: a line that rises with the bandwidth, "
        f"{bandwidth:g} trillion bytes per second, up to {corner:.0f} operations per byte, and is level from there at "
        f"{peak:g} trillion operations per second. Points on it: {'; '.join(said)}.",
    )


def time_bars(spent: Mapping[str, Sequence[float]], parts: Sequence[str]) -> Figure:
    """Milliseconds of each situation: one stacked bar per situation, a hatching and a colour per part."""
    figure, (ax,) = row(1, width=8.0, height=0.55 * len(spent) + 1.3)
    names = list(spent)
    starts = [0.0] * len(names)
    for part, what in enumerate(parts):
        sizes = [float(spent[name][part]) for name in names]
        look: dict[str, Any] = {"color": PALETTE[part], "hatch": HATCHES[part], "edgecolor": GROUND, "linewidth": 0.5}
        ax.barh(range(len(names)), sizes, left=starts, height=0.62, label=what, **look)
        starts = [start + size for start, size in zip(starts, sizes, strict=True)]
    for i, total in enumerate(starts):
        ax.text(total, i, f" {total:.1f} ms", va="center", ha="left", color=INK)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.15 * max(starts)), xlabel="milliseconds for one step")
    ax.legend(frameon=False, fontsize=SMALL, ncols=len(parts), loc="lower center", bbox_to_anchor=(0.4, 1.0))
    details = "; ".join(
        f"{name}: {', '.join(f'{value:.2f} {what}' for value, what in zip(spent[name], parts, strict=True))}"
        for name in names
    )
    return with_alt_text(figure, f"Stacked bars of milliseconds. {details}.")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share > 0.1 else f"{100 * share:.2g} %"


def _cell(ax: Axes, r: int, c: int, text: str, state: str) -> None:
    """A row of a cache at (r, c): "new" is solid, "kept" pale; "empty" has no text."""
    from matplotlib.patches import Rectangle

    ground = colour("k") if state == "new" else PALE
    edge = INK if state == "new" else FAINT
    ax.add_patch(Rectangle((c - 0.42, r - 0.42), 0.84, 0.84, facecolor=ground, edgecolor=edge, linewidth=0.8))
    ax.text(c, r, text, ha="center", va="center", color=_ink(ground) if state == "new" else GREY, fontsize=SMALL)


def _frame(ax: Axes, down: int, across: int, title: str) -> None:
    ax.set(xlim=(-0.6, across - 0.4), ylim=(down - 0.4, -0.6), title=title)
    ax.set_yticks(range(down))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _ink(ground: str) -> str:
    from matplotlib.colors import to_rgba

    return ink_on(to_rgba(ground))


def _arrow() -> dict[str, Any]:
    return {"arrowstyle": "-|>", "color": GREY, "linewidth": 1.0}
