"""Shapes that many figures draw: arrows, cells, frames, rounded boxes, and text in the middle of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

Point = tuple[float, float]


def arrow(
    ax: Axes,
    start: Sequence[float],
    end: Sequence[float],
    *,
    colour: str = INK,
    width: float = 1.2,
    line: Any = "-",
    gap: float = 0.0,
    **look: Any,
) -> None:
    """Draw an arrow between two points; `width`, and the `gap` at both ends, are in points."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "linestyle": line}
    style |= {"shrinkA": gap, "shrinkB": gap}
    ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style, annotation_clip=False, **look)


def cell(ax: Axes, x: float, y: float, size: Point = (1.0, 1.0), **look: Any) -> Rectangle:
    """Draw a rectangle around a point, of (width, height)."""
    from matplotlib.patches import Rectangle as Shape

    shape = Shape((x - size[0] / 2, y - size[1] / 2), *size, **look)
    ax.add_patch(shape)
    return shape


def frame(ax: Axes, box: tuple[float, float, float, float], *lines: tuple[str, float], zorder: float = 5) -> None:
    """Draw lines of (colour, width in points), one upon the other, around a box of x, y, width and height."""
    from matplotlib.patches import Rectangle as Shape

    for colour, width in lines:
        look: dict[str, Any] = {"fill": False, "edgecolor": colour, "linewidth": width, "clip_on": False}
        ax.add_patch(Shape(box[:2], *box[2:], zorder=zorder, **look))


def rounded(ax: Axes, x: float, y: float, size: Point, pad: str, **look: Any) -> None:
    """Draw a box with round corners around a point, of (width, height); `pad` as in matplotlib's box styles."""
    from matplotlib.patches import FancyBboxPatch

    corner = (x - size[0] / 2, y - size[1] / 2)
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=f"round,{pad}", **look))


def write(ax: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write text around a point."""
    ax.text(x, y, text, ha="center", va="center", **look)
