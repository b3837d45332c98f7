"""How every figure is made, described and shown.

What draws one panel takes `ax` and returns it; what makes a whole picture returns its Figure. In both cases the words
that describe it may lie on the figure already (`described`), or are given where it is shown. The same arguments give
the same bytes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, cast

import torch

from ..report import display_html
from .style import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 144
PIXELS_PER_INCH = 92  # on the page: three panels of 3.2 inches fill a notebook's width
LEAST_WIDTH = 560  # pixels: on a phone a wider picture is scrolled sideways, rather than made illegible


def row(
    n: int, *, width: float = 3.2, height: float = 2.8, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure with `n` panels side by side, each `width` by `height` inches, and the list of their axes.

    `ratios` shares the figure's width out in another way: one number for each panel.
    """
    return grid(n, n, width=width, height=height, ratios=ratios)


def grid(
    n: int,
    across: int,
    *,
    width: float,
    height: float,
    beside: float = 0.0,
    above: float = 0.0,
    ratios: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure with `n` panels in lines of `across`, each `width` by `height` inches, and the list of their axes.

    `beside` and `above` are inches that the whole figure has more; places of the last line that are left stay empty.
    """
    import matplotlib.pyplot as plt

    down = -(-n // across)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            down,
            across,
            figsize=(across * width + beside, down * height + above),
            width_ratios=ratios,
            squeeze=False,
            layout="constrained",
        )
    for ax in axes.flat[n:]:
        ax.remove()
    return figure, list(axes.flat[:n])


def with_alt_text(drawn: Figure | Axes, words: str) -> Figure:
    """The figure (or that of some axes), `words` being what it shows, for those who cannot see it."""
    figure = cast("Figure", drawn.figure)  # none of our panels lies in a subfigure
    figure.set_label(words)
    return figure


def show(drawn: Figure | Axes, *, alt: str = "", caption: str = "") -> None:
    """Show a figure (or the figure of some axes) under the cell, with its description, and close it.

    `alt` says in words what there is to see; without it the figure must have been `described`. ValueError if neither.
    A script says these words.
    """
    words = alt or drawn.figure.get_label()
    display_html(html(drawn, alt=alt, caption=caption), str(words))


def html(drawn: Figure | Axes, *, alt: str = "", caption: str = "", style: str = "") -> str:
    """The figure as one HTML element that stands on its own, its picture inside; closes the figure.

    `alt` as for `show`. `style` is CSS for the element; "{width}" in it stands for the picture's width in pixels.
    """
    import matplotlib.pyplot as plt

    figure: Any = drawn.figure
    alt = alt or figure.get_label()
    if not alt.strip():
        plt.close(figure)
        raise ValueError("alt is empty, and the figure is not described: say in words what it shows")
    with plt.rc_context(STYLE), io.BytesIO() as file:
        # Titles over slanted labels find their place only while drawing; the layout follows in the next pass
        figure.draw_without_rendering()
        # The version of matplotlib stays out of the file: it changes only when the picture does.
        figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
        picture = base64.b64encode(file.getvalue()).decode("ascii")
    width = round(figure.get_figwidth() * PIXELS_PER_INCH)
    plt.close(figure)
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    wide = width > LEAST_WIDTH
    least, scrolls = (f"min-width:{LEAST_WIDTH}px;", "overflow-x:auto;") if wide else ("", "")
    focus = ' tabindex="0"' if wide else ""  # what scrolls is reached by keyboard, too
    return (
        f'<figure{focus} style="margin:0.5em 0;max-width:100%;{scrolls}{style.format(width=width)}">'
        f'<img alt="{escape(alt)}" src="data:image/png;base64,{picture}" '
        f'style="width:{width}px;{least}max-width:100%;height:auto">{below}</figure>'
    )


def plain(values: torch.Tensor | Iterable[float]) -> torch.Tensor:
    """Numbers as a tensor on the CPU, in float64, without gradients."""
    if not isinstance(values, torch.Tensor):
        values = torch.tensor([float(v) for v in values], dtype=torch.float64)
    return values.detach().to("cpu", torch.float64)
