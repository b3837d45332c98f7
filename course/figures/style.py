"""What every picture of the course is drawn with: one set of colours, line styles, markers and hatchings.

Nothing is told by colour alone, so what has a place in PALETTE has one in LINES, MARKERS and HATCHES, too.
"""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, which people with each kind of colour blindness tell apart; black for lines and text.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "\\\\\\", "xx", "--", "++")
INK = "#222222"
GREY = "#666666"  # axes, levels, and words that matter less
FAINT = "#aaaaaa"  # hatchings and lines in the background
LIGHT = "#dddddd"  # grids
PALE = "#efefef"  # the ground of what is blocked or empty
PALE_BLUE = "#dbe9f4"  # the ground of what is open, and of boxes
PALE_ORANGE = "#fbe8d8"
WHITE_GROUND = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # behind words that stand on lines
MONO = "DejaVu Sans Mono"
SMALL = 9  # font size of notes in a picture
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
    "figure.facecolor": "white",  # a dark notebook theme must not swallow the labels
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "attention",
}


def ink_on(ground: tuple[float, float, float, float]) -> str:
    """Black or white, whichever stands out more from a colour: by relative luminance, as WCAG 2 defines it."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in ground[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"
