"""The style of all figures: colours, line styles, markers and hatchings.

Colour is never the only distinction: each entry of PALETTE has one in LINES, MARKERS and HATCHES, too.
"""

from __future__ import annotations

from typing import Any

# After Okabe and Ito, distinguishable with any colour blindness. The pale ones are darker than theirs: each has a
# contrast of 3 with white. `themes` has the shade of each colour for a dark ground
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#BF6699", "#B87F00", "#2E8FCB", "#000000")
TEXT_PALETTE = ("#00507D", "#954200", "#006F51", "#86476B", "#815900", "#20648E", "#000000")  # PALETTE for text
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
WHITE_GROUND = {"facecolor": GROUND, "edgecolor": "none", "pad": 1}  # behind text on lines
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


def ink_on(ground: tuple[float, float, float, float]) -> str:
    """Black or white, by contrast with a colour (WCAG 2's relative luminance)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in ground[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return BLACK if (luminance + 0.05) ** 2 > 1.05 * 0.05 else WHITE
