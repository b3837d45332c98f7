"""What every lesson draws with: heat maps, bars, curves, and the one way in which a figure is shown.

Nothing is told by colour alone: small maps carry their numbers, large ones a colour bar, blocked cells a hatching,
every curve its own line style, marker and name. Weights always have the scale 0 to 1, so that two maps can be
compared by eye; scores have one that is symmetric about 0. The same arguments give the same bytes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import torch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with each kind of colour blindness tell apart; black for lines and text.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#222222"
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",  # a dark notebook theme must not swallow the labels
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "attention",
}
DPI = 144
PIXELS_PER_INCH = 92  # on the page: three panels of 3.2 inches fill a notebook's width
LEAST_WIDTH = 560  # pixels: on a phone a wider picture is scrolled sideways, rather than made illegible


def row(
    n: int, *, width: float = 3.2, height: float = 2.8, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure with `n` panels side by side, each `width` by `height` inches, and the list of their axes.

    `ratios` shares the figure's width out in another way: one number for each panel.
    """
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1,
            n,
            figsize=(n * width, height),
            width_ratios=ratios,
            squeeze=False,
            layout="constrained",
        )
    return figure, list(axes[0])


def show(fig: Figure | Axes, alt: str, caption: str = "") -> None:
    """Show a figure (or the figure of some axes) under the cell, with its description, and close it.

    `alt` says in words what there is to see, for those who cannot see it. It is required: ValueError if empty.
    """
    from IPython.display import display

    display({"text/html": html(fig, alt, caption), "text/plain": alt}, raw=True)


def html(fig: Figure | Axes, alt: str, caption: str = "", *, style: str = "") -> str:
    """The figure as one HTML element that stands on its own, its picture inside; closes the figure.

    `style` is CSS for the element; "{width}" in it stands for the picture's width in pixels.
    """
    import matplotlib.pyplot as plt

    figure: Any = fig.figure
    if not isinstance(alt, str) or not alt.strip():
        plt.close(figure)
        raise ValueError("alt is empty: say in words what the figure shows")
    with plt.rc_context(STYLE), io.BytesIO() as file:
        # Titles over slanted labels find their place only while drawing; the layout follows in the next pass
        figure.draw_without_rendering()
        # The version of matplotlib stays out of the file: it changes only when the picture does.
        figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
        picture = base64.b64encode(file.getvalue()).decode("ascii")
    width = round(figure.get_figwidth() * PIXELS_PER_INCH)
    plt.close(figure)
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    least = f"min-width:{LEAST_WIDTH}px;" if width > LEAST_WIDTH else ""
    return (
        f'<figure style="margin:0.5em 0;max-width:100%;overflow-x:auto;{style.format(width=width)}">'
        f'<img alt="{escape(alt)}" src="data:image/png;base64,{picture}" '
        f'style="width:{width}px;{least}max-width:100%;height:auto">{below}</figure>'
    )


def heat_map(
    values: torch.Tensor,
    *,
    ax: Axes | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    kind: Literal["weights", "scores"] = "weights",
    blocked: torch.Tensor | None = None,
    title: str = "",
    numbers: bool | None = None,
    size: tuple[float, float] | None = None,
    limit: float | None = None,
) -> Axes:
    """A matrix as coloured cells, row 0 on top.

    `values` is (R, C). "weights" are coloured from 0 to 1, always; "scores" from -limit to limit, where `limit` is
    the greatest finite magnitude unless given (give it when two maps are to be compared). `blocked`, bool (R, C), is
    True for the cells to hatch. Numbers are written into maps of at most 64 cells, or as `numbers` says; a map
    without numbers gets a colour bar. `size` is (width, height) in inches where no `ax` is given.
    """
    cells = _plain(values)
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
        interpolation="nearest",
    )
    _frame(ax, cells.shape, rows, columns, title)
    for r, c in hidden.nonzero().tolist():
        _hatch(ax, r, c)
    if numbers if numbers is not None else cells.numel() <= 64:
        _write_numbers(ax, image, cells, hidden)
    else:
        ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04)
    return ax


def bars(
    values: torch.Tensor,
    labels: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
    limit: float | tuple[float, float] | None = None,
) -> Axes:
    """One bar for each of `values`, (N,), with its number at its end.

    `limit` fixes the vertical scale: a pair, or one number for 0 to limit (-limit to limit if a value is negative).
    """
    heights = _plain(values)
    if heights.ndim != 1:
        raise ValueError(f"values has the shape {tuple(heights.shape)}; bars need (N,)")
    ax = ax or row(1, width=1.0 + 0.6 * len(heights))[1][0]
    negative = bool((heights < 0).any())
    finite = heights.nan_to_num(0.0, 0.0, 0.0)
    drawn = ax.bar(range(len(heights)), finite.tolist(), color=PALETTE[0], width=0.7)
    texts = [_number(v, _decimals(heights)) for v in heights.tolist()]
    ax.bar_label(drawn, texts, padding=2, fontsize=9)
    ax.set_xticks(range(len(heights)), list(labels) if labels is not None else None)
    ax.axhline(0, color="#666666", linewidth=0.8)
    if limit is None:
        ax.margins(y=0.15)
    else:
        ax.set_ylim(limit if isinstance(limit, tuple) else (-limit if negative else 0, limit))
    ax.set_title(title)
    return ax


def curves(
    x: Iterable[float],
    ys: Mapping[str, Iterable[float]],
    *,
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
    log: bool | Literal["x", "y", "both"] = False,
) -> Axes:
    """Curves over one `x`, each with its own line style and marker and its name at its right end.

    `log` names the axes that are logarithmic; True is "y".
    """
    ax = ax or row(1, width=5.6, height=3.2)[1][0]
    across = _plain(x)
    if log in ("x", "both"):
        ax.set_xscale("log")
    if log in (True, "y", "both"):
        ax.set_yscale("log")
    ends = []
    for i, (name, y) in enumerate(ys.items()):
        up, look = _plain(y), i % len(PALETTE)
        ax.plot(
            across.numpy(),
            up.numpy(),
            color=PALETTE[look],
            linestyle=LINES[look],
            marker=MARKERS[look],
            markersize=4.5,
            markevery=max(1, len(up) // 8),
            linewidth=1.8,
        )
        if up.isfinite().any():
            last = int(up.isfinite().nonzero()[-1])
            ends.append((name, float(across[last]), float(up[last]), PALETTE[look]))
    _name_ends(ax, ends)
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    return ax


def _plain(values: Any) -> torch.Tensor:
    if not isinstance(values, torch.Tensor):
        values = torch.tensor([float(v) for v in values], dtype=torch.float64)
    return values.detach().to("cpu", torch.float64)


def _scale(shown: torch.Tensor, kind: str, limit: float | None) -> tuple[float, float, Any]:
    import matplotlib

    if kind == "weights":
        low, high, name = 0.0, 1.0, "cividis"
    elif kind == "scores":
        finite = shown[shown.isfinite()]
        high = limit or (float(finite.abs().max()) if finite.numel() else 0.0) or 1.0
        low, name = -high, "PuOr_r"
    else:
        raise ValueError(f"kind is {kind!r}; it must be 'weights' or 'scores'")
    return low, high, matplotlib.colormaps[name].with_extremes(bad="#d9d9d9")


def _frame(
    ax: Axes,
    shape: torch.Size,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    title: str,
) -> None:
    """Labels beside and above the cells, thin white lines between them."""
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


def _hatch(ax: Axes, r: int, c: int) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(
        Rectangle(
            (c - 0.5, r - 0.5),
            1,
            1,
            facecolor="#efefef",
            edgecolor="#8a8a8a",
            hatch="///",
            linewidth=0,
        )
    )


def _write_numbers(ax: Axes, image: Any, cells: torch.Tensor, hidden: torch.Tensor) -> None:
    shown = (~hidden).nonzero().tolist()
    # A cell's side in points, about: labels and title will take some of the panel.
    figure: Any = ax.figure
    panel, inches = ax.get_position(), figure.get_size_inches()
    side = 54 * min(panel.width * inches[0] / cells.shape[1], panel.height * inches[1] / cells.shape[0])
    decimals = _decimals(cells[~hidden])
    while True:
        texts = [_number(float(cells[r, c]), decimals) for r, c in shown]
        size = min(10.0, side / (0.62 * max(map(len, texts), default=1)))
        if size >= 7 or decimals < 2 or bool((cells[~hidden].abs() <= 1).all()):
            break
        decimals -= 1  # one decimal that can be read is worth more than two that cannot
    for (r, c), text in zip(shown, texts, strict=True):
        ground = image.cmap(image.norm(cells[r, c].nan_to_num(posinf=0, neginf=0).item()))
        ground = ground if cells[r, c].isfinite() else image.cmap(float("nan"))
        ax.text(c, r, text, ha="center", va="center", fontsize=max(6.0, size), color=ink_on(ground))


def ink_on(ground: tuple[float, float, float, float]) -> str:
    """Black or white, whichever stands out more from a colour: by relative luminance, as WCAG 2 defines it."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in ground[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


def _decimals(values: torch.Tensor) -> int:
    """How many decimals are enough for all of them: none for whole numbers, two below 10, fewer above."""
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


def _name_ends(ax: Axes, ends: list[tuple[str, float, float, str]]) -> None:
    """Write each curve's name at its end, pushed apart where ends lie close together."""
    from matplotlib.colors import to_rgb

    ax.autoscale_view()
    figure: Any = ax.figure
    height = ax.get_position().height * figure.get_size_inches()[1] * 72  # in points, about
    placed = []
    for name, x, y, colour in ends:
        up = ax.transAxes.inverted().transform(ax.transData.transform((x, y)))[1] * height
        placed.append((up, name, x, y, [0.7 * part for part in to_rgb(colour)]))
    previous = float("-inf")
    for up, name, x, y, darker in sorted(placed):
        previous = max(up, previous + 13)
        ax.annotate(
            name,
            (x, y),
            (8, previous - up),
            textcoords="offset points",
            color=darker,
            va="center",
            annotation_clip=False,
        )
