"""The style of all figures: colours, line styles, markers and hatchings.

One grammar holds in all lessons:

- q, k, v, S (scores), A (weights) and O (output) have one colour each (`colour`), and their letter is beside it.
- Dark is high. Weights are white to dark violet, always from 0 to 1. Signed numbers, scores among them, are dark brown
  where they are high, white at 0, and light green below. Other numbers that are never negative are white to black.
  Cells have the same colours on a light and on a dark page.
- A blocked cell is hatched and has no number. It is never drawn as 0.

Colour is never the only distinction: each entry of PALETTE has one in LINES, MARKERS and HATCHES, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# After Okabe and Ito, distinguishable with any colour blindness. The pale ones are darker than theirs: each has a
# contrast of 3 with white. `themes` has the shade of each colour for a dark ground
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#BF6699", "#B87F00", "#2E8FCB", "#000000")
TEXT_PALETTE = ("#00507D", "#954200", "#006F51", "#86476B", "#815900", "#20648E", "#000000")  # PALETTE for text
# The parts of attention. With every kind of colour blindness, they differ by at least 16 in CIELAB (see the tests)
PARTS = {
    "x": "#5c5c5c",
    "q": "#1f4c90",
    "k": "#963006",
    "v": "#24997a",
    "scores": "#9a8628",
    "weights": "#b440c8",
    "output": "#000000",
}
LETTERS = {"x": "X", "q": "Q", "k": "K", "v": "V", "scores": "S", "weights": "A", "output": "O"}
# Colours of cells from low to high, in equal steps
WEIGHTS = ("#f8f4fb", "#e3c9ee", "#cd92dd", "#b152c4", "#7f2495", "#430a54")
BELOW_0 = ("#7cc3b4", "#bcdfd7", "#f6f4ee")
ABOVE_0 = ("#f6f4ee", "#d9cc96", "#a8943c", "#6b5a10", "#2b2200")
AMOUNTS = (
    "#f5f5f6",
    "#cfcfd0",
    "#a5a5a6",
    "#79797a",
    "#4d4d4e",
    "#1f1f20",
)  # none of `themes.DARK`
UNDEFINED = "#d9d9d9"  # ground of a cell with an infinite or undefined number
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "||", "\\\\\\", "xx", "--", "++")
INK = "#222222"
GREY = "#666666"  # axes, levels and secondary text
FAINT = "#8f8f8f"  # background hatchings and lines
LIGHT = "#dddddd"  # grids
PALE = "#efefef"  # background of blocked or empty cells
PALE_BLUE = "#dbe9f4"  # background of open cells and of boxes
PALE_ORANGE = "#fbe8d8"
GROUND = "#ffffff"  # the page's
BLACK, WHITE = "#010101", "#fefefe"  # in every theme, for text on a colour that is the same in every theme
MONO = "DejaVu Sans Mono"
SMALL = 9  # font size of notes
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.labelsize": 10,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "attention",
}


def cell_colours(kind: str) -> Any:
    """The colormap of cells: of "weights", of signed "scores", or of "amounts"."""
    from matplotlib.colors import LinearSegmentedColormap

    if kind == "weights":
        stops = _evenly(WEIGHTS, 0, 1)
    elif kind == "scores":
        stops = [*_evenly(BELOW_0, 0, 0.5)[:-1], *_evenly(ABOVE_0, 0.5, 1)]
    elif kind == "amounts":
        stops = _evenly(AMOUNTS, 0, 1)
    else:
        raise ValueError(f"kind is {kind!r}; it must be 'weights', 'scores' or 'amounts'")
    return LinearSegmentedColormap.from_list(kind, stops).with_extremes(bad=UNDEFINED)


def _evenly(colours: Sequence[str], first: float, last: float) -> list[tuple[float, str]]:
    return [(first + (last - first) * i / (len(colours) - 1), colour) for i, colour in enumerate(colours)]


def ink_on(ground: tuple[float, float, float, float]) -> str:
    """Black or white, by contrast with a colour (WCAG 2's relative luminance)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in ground[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return BLACK if (luminance + 0.05) ** 2 > 1.05 * 0.05 else WHITE


def colour(part: str) -> str:
    """The colour of a part of attention: "q", "k", "v", "scores", "weights", "output" or "x".

    In a figure, `themes` replaces it by its shade for a dark page.
    """
    if part not in PARTS:
        raise ValueError(f"part is {part!r}; it must be one of {', '.join(map(repr, PARTS))}")
    return PARTS[part]
