"""Charts of a class as self-contained SVG for an HTML page."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.figure import Figure

from .model import ClassGrades, quartiles

INK, BLUE, DOT = "#1a202c", "#1a4f8b", "#5b87b8"
VARIABLES = {INK: "var(--text)", BLUE: "var(--accent)"}  # of the page; the dots have a contrast of 3 in both themes
STYLE = {
    "svg.hashsalt": "class",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
}
ROOM = 0.32  # half the width over which a lesson's students are spread


def spread(grades: ClassGrades) -> str:
    """Chart every student's share of each lesson's points, with median and quartiles."""
    lessons = grades.lessons
    with rc_context(STYLE):
        figure = Figure(figsize=(max(4.0, 1.0 * len(lessons) + 1.2), 3.4), layout="constrained")
        axes = figure.subplots()
        for place, lesson in enumerate(lessons):
            shares = sorted(100 * s.share for s in grades.whole(lesson))
            axes.scatter(_swarm_positions(place, shares), shares, s=12, color=DOT, zorder=2)
        per_lesson = [[100 * s.share for s in grades.whole(lesson)] for lesson in lessons]
        axes.boxplot(
            per_lesson,
            positions=range(len(lessons)),
            widths=2 * ROOM,
            showfliers=False,
            medianprops={"color": BLUE, "linewidth": 2},
            boxprops={"color": INK},
            whiskerprops={"color": INK},
            capprops={"color": INK},
        )
        axes.set(ylim=(-4, 104), ylabel="% of the points", xlim=(-0.6, len(lessons) - 0.4))
        axes.set_xticks(range(len(lessons)), [f"{lesson[:2]}\n{_when(grades, lesson)}" for lesson in lessons])
        axes.spines[["top", "right"]].set_visible(False)
        return _svg(figure)


def in_words(grades: ClassGrades) -> str:
    """The chart as text, for readers who cannot see it."""
    parts = []
    for lesson in grades.lessons:
        low, middle, high = quartiles(grades.whole(lesson))
        parts.append(f"{lesson}: median {middle:.0f} % of the points, quartiles {low:.0f} and {high:.0f} %")
    return "; ".join(parts)


def _swarm_positions(place: int, shares: Sequence[float]) -> list[float]:
    """Horizontal positions that put points of similar height side by side."""
    count = max(1, len(shares) - 1)
    return [
        place + ROOM * (2 * ((7 * i) % (count + 1)) / count - 1) if count > 1 else place for i in range(len(shares))
    ]


def _when(grades: ClassGrades, lesson: str) -> str:
    """The median day of submission."""
    days = sorted(s.handed_in for s in grades.submissions if s.lesson == lesson and s.handed_in)
    return days[len(days) // 2].strftime("%d %b") if days else ""


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return text
