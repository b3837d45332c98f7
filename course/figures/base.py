"""Creation, alt text and display of every figure.

Functions that draw one panel take `ax` and return it; functions that draw a whole figure return the Figure. The alt
text and a caption may already be on the figure (`with_alt_text`), or are given when it is shown. The same arguments
give the same bytes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch

from ..report import display_html, rendering_static_page
from . import themes
from .style import GROUND, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = TypeVar("Draw", bound=Callable[..., Any])
DPI = 144
PIXELS_PER_INCH = 92  # on the page: three panels of 3.2 inches fill a notebook's width
COLOURS = 64  # of the fallback: a quarter of the bytes, and no difference to see
LEAST_WIDTH = 560  # pixels: on a phone, a wider figure scrolls sideways instead of becoming illegible


def row(
    n: int, *, width: float = 3.2, height: float = 2.8, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Make a figure with `n` panels in a row, each `width` by `height` inches.

    Returns the figure and its axes. `ratios` divides the figure's width in another way: one number per panel.
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
    """Make a figure of `n` panels, `across` in a row, each `width` by `height` inches.

    Returns the figure and its axes. `beside` and `above` are extra inches for the whole figure; the rest of the last
    row stays empty.
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


def with_alt_text(drawn: Figure | Axes, words: str, caption: str = "") -> Figure:
    """Set the alt text and the caption of a figure, or of the figure of some axes."""
    figure = cast("Figure", drawn.figure)  # no panel of ours is in a subfigure
    figure.set_label(words)
    cast("Any", figure).caption = caption
    return figure


def with_caption(drawn: Figure | Axes, caption: str) -> Figure:
    """Set the caption of a figure that has its alt text, or of the figure of some axes."""
    return with_alt_text(drawn, str(drawn.figure.get_label()), caption)


def with_choices(**choices: Any) -> Callable[[Draw], Draw]:
    """Give a drawing function the options of its sliders, with `start` and `strip` as in `sliders.slider`."""

    def give(draw: Draw) -> Draw:
        cast("Any", draw).choices = choices
        return draw

    return give


def show(drawn: Figure | Axes, *, alt: str = "", caption: str = "") -> None:
    """Show a figure (or the figure of some axes) under the cell, and close it.

    `alt` is the alt text, by default that of `with_alt_text`, whose caption comes before `caption`. Raises ValueError
    without an alt text. A script prints it instead.
    """
    alt, caption = described(drawn, alt, caption)
    display_html(html(drawn, alt=alt, caption=caption), alt)


def described(drawn: Figure | Axes, alt: str = "", caption: str = "") -> tuple[str, str]:
    """The alt text and the caption of a figure, after these were given for it."""
    own = getattr(drawn.figure, "caption", "")
    return alt or str(drawn.figure.get_label()), " ".join(filter(None, (own, caption)))


def html(drawn: Figure | Axes, *, alt: str = "", caption: str = "", style: str = "", fallback: bool = True) -> str:
    """Convert a figure to one self-contained HTML element, and close it.

    The figure is inline SVG in the colours of the page's theme. `fallback` adds a picture on white, which shows only
    where a front end removes SVG and CSS: on GitHub, in an untrusted notebook, on a feedback page. The site's pages
    need none. `alt` as for `show`. `style` is CSS for the element; "{width}" in it is replaced by the figure's width in
    pixels, "{least}" by the width to which it may shrink.
    """
    import matplotlib.pyplot as plt

    figure: Any = drawn.figure
    fallback = fallback and not rendering_static_page()
    alt = alt or figure.get_label()
    if not alt.strip():
        plt.close(figure)
        raise ValueError("alt is empty, and the figure is not described: say in words what it shows")
    width = round(figure.get_figwidth() * PIXELS_PER_INCH)
    wide = width > LEAST_WIDTH
    limit, scrolls = (f"min-width:{LEAST_WIDTH}px;", "overflow-x:auto;") if wide else ("", "")
    size = f"width:{width}px;{limit}max-width:100%;height:auto"
    # Text that stays where a front end removes SVG would be noise beside the fallback: there, letters are outlines
    with plt.rc_context(STYLE | {"svg.fonttype": "path" if fallback else "none"}):
        # Titles over slanted labels are placed only while drawing; the layout follows in the next pass
        figure.draw_without_rendering()
        picture = themes.themed(_saved(figure, format="svg", metadata={"Date": None}).decode(), alt, size)
        if fallback:
            figure.set_layout_engine("none")
            picture += f'<img alt="{escape(alt)}" src="{_png(figure)}" style="{size};background-color:#fff">'
    plt.close(figure)
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    focus = ' tabindex="0"' if wide else ""  # makes it scroll by keyboard, too
    style = style.format(width=width, least=LEAST_WIDTH if wide else width // 2)
    look = f"margin:0.5em 0;max-width:100%;{scrolls}{style}"
    return f'<figure class="{themes.CLASS}"{focus} style="{look}">{themes.STYLE}{picture}{below}</figure>'


def _png(figure: Figure) -> str:
    """The address of a picture that contains the picture."""
    from PIL import Image

    # Omit matplotlib's version, so that the file changes only with the figure
    drawn = _saved(figure, format="png", dpi=DPI, facecolor=GROUND, metadata={"Software": None})
    with Image.open(io.BytesIO(drawn)) as image, io.BytesIO() as file:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, format="png", optimize=True)
        return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def _saved(figure: Figure, **how: Any) -> bytes:
    with io.BytesIO() as file:
        figure.savefig(file, **how)
        return file.getvalue()


def plain(values: torch.Tensor | Iterable[float]) -> torch.Tensor:
    """Convert numbers to a tensor on the CPU, in float64, without gradients."""
    if not isinstance(values, torch.Tensor):
        values = torch.tensor([float(v) for v in values], dtype=torch.float64)
    return values.detach().to("cpu", torch.float64)
