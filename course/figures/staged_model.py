"""Figure of the staged model: its parts, their origin, its attention to letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .base import row, with_alt_text
from .panels import heat_map, never_seen
from .shapes import rounded
from .style import GREY, INK, PALE, PALE_BLUE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..notebook.staged_model import StagedModel


NOTES = {
    "03": "Its numbers are random, and queries and keys share one matrix, so each letter looks for letters like "
    "itself.",
    "04": "The same text, random numbers and matrices as in lesson 3, with scaled scores.",
    "05": "The letters and numbers of lessons 3 and 4. Hatched cells: blocked.",
    "06": "The letters and numbers of lessons 3 to 5, in two heads. Hatched cells: blocked.",
    "07": "The letters and numbers of lessons 3 to 6, now with positions. Hatched cells: blocked.",
}  # by stage


def built_so_far(model: StagedModel, text: str = "then the hen") -> Figure:
    """The model's parts, and each head's weights over the letters of a text."""
    maps = model.maps(text)
    parts = [(name, model.does[name], part.passes) for name, part in model.parts.items()]
    heads = len(maps)
    figure, (ax, *panels) = row(1 + heads, width=3.5, height=3.6, ratios=[1.1, *[1.0] * heads])
    for place, part in enumerate(parts):
        _box(ax, place, *part)
    ax.set(xlim=(-0.02, 1.02), ylim=(max(len(parts), 4) - 0.35, -0.6))
    ax.set_title("the model so far")
    ax.axis("off")
    letters = [letter if letter.strip() else "␣" for letter in text]
    blocked = never_seen(maps)
    for number, (panel, weights) in enumerate(zip(panels, maps, strict=True)):
        title = f"head {number}" if heads > 1 else "where each letter looks"
        heat_map(
            weights,
            part="weights",
            rows=letters,
            columns=letters,
            blocked=blocked,
            numbers=False,
            title=title,
            ax=panel,
        )
    details = "; ".join(f"{name} ({does}){'' if own else ', the course’s'}" for name, does, own in parts)
    seen = "; ".join(f"head {i}: {_in_words(weights)}" for i, weights in enumerate(maps))
    return with_alt_text(
        figure,
        f"The model so far: {details}. Attention over the letters of {text!r}. {seen}.",
        NOTES[model.stage],
    )


def _box(ax: Axes, place: int, name: str, does: str, own: bool) -> None:
    face, edge, hatch = (PALE_BLUE, INK, "") if own else (PALE, GREY, "//")
    rounded(ax, 0.5, place, (0.94, 0.6), "pad=0.02", facecolor=face, edgecolor=edge, hatch=hatch)
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
    plate = {"facecolor": face, "edgecolor": "none", "pad": 1.5}
    ax.text(0.5, place - 0.12, name, color=INK, weight="bold", bbox=plate, **style)
    ax.text(0.5, place + 0.15, f"{does}{'' if own else ' · the course’s'}", color=INK, bbox=plate, **style)


def _in_words(weights: torch.Tensor) -> str:
    """Describe a map: the largest weight, and the share on later letters."""
    later = weights.triu(1).sum() / len(weights)
    return f"greatest weight {weights.max():.2f}, {later:.0%} of all weight on letters that come later"
