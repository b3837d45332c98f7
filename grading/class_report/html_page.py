"""The class report as one self-contained HTML page, without scripts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..grader.verdict import SIGNS
from ..points import points_text
from ..safe_html import page_templates
from .at_risk import concerns
from .charts import in_words, spread
from .item_analysis import FEWEST, Item, items
from .mistake_texts import MistakeTexts
from .mistakes import by_family, named, unnamed
from .model import EXCUSED, ClassGrades, quartiles
from .similarity import COMMON, pairs

TEMPLATES = Path(__file__).parent / "templates"
MOST_SHOWN = 60  # the table of points is folded if there are more students
MOST_NAMED = 12  # mistakes to show unfolded


def class_page(grades: ClassGrades, title: str, graders: MistakeTexts) -> str:
    """Render the page as HTML."""
    environment = page_templates(TEMPLATES)
    environment.filters |= {"percent": _percent, "named": _spaced, "counted": _counted}
    environment.globals |= {"shade": _shade, "points_text": points_text}
    return environment.get_template("class.html.j2").render(_context(grades, title, graders))


def _context(grades: ClassGrades, title: str, graders: MistakeTexts) -> dict[str, Any]:
    found = list(items(grades))
    whole = [item for item in found if not item.criterion]
    made = named(grades.answers)
    return {
        "title": title,
        "grades": grades,
        "spread": Markup(spread(grades)) if grades.submissions else "",
        "in_words": in_words(grades),
        "quartiles": {lesson: quartiles(grades.whole(lesson)) for lesson in grades.lessons},
        "handed_in": Counter(s.lesson for s in grades.submissions),
        "lessons": {lesson: [item for item in whole if item.lesson == lesson] for lesson in grades.lessons},
        "criteria": {lesson: [item for item in found if item.lesson == lesson] for lesson in grades.lessons},
        "fewest": FEWEST,
        "weak": [item for item in found if _weak(item)],
        "named": [(row, *graders.explain(row.lesson, row.exercise, row.name)) for row in made],
        "most_named": MOST_NAMED,
        "ideas": by_family(grades.answers),
        "unnamed": unnamed(grades.answers),
        "waiting": _waiting(grades),
        "concerns": concerns(grades),
        "made_for_the_grader": [(a, SIGNS[sign]) for a, sign in grades.signs],
        "pairs": pairs(grades.answers, graders.answers),
        "common": COMMON,
        "points": {(s.student, s.lesson): s for s in grades.submissions},
        "excused": EXCUSED,
        "folded": len(grades.students) > MOST_SHOWN,
    }


def _waiting(grades: ClassGrades) -> dict[tuple[str, str, str], list[str]]:
    """Exercises that need a person, by student, lesson and reason."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for a in grades.answers:
        if a.waiting:
            found.setdefault((a.student, a.lesson, a.reason), []).append(a.exercise)
    return found


def _weak(item: Item) -> bool:
    """Whether students who do better elsewhere do worse here.

    Such an item may be unclear.
    """
    return item.discrimination is not None and item.discrimination < 0


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _shade(share: float | None) -> str:
    """A background for a share of the points, fainter for more. Text is readable on it in both themes."""
    if share is None:
        return "transparent"
    hue = f"{28 + 180 * share:.0f}"
    light, dark = (f"{70 - 25 * share:.0f}% {82 + 12 * share:.0f}%", f"{55 - 25 * share:.0f}% {26 - 8 * share:.0f}%")
    return f"light-dark(hsl({hue} {light}), hsl({hue} {dark}))"
