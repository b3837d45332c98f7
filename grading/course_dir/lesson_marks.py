"""Read the exercises and points from a lesson's text, without running it.

Does not cover: the lesson as a notebook (`authoring/lesson_text.py`), its graders (`exercises/lesson.py`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from .lesson_change import LessonChange

CHECK = "check_"  # the grade cell of the exercise `dot` is check_dot
MARKS = re.compile(r"^# %%.*?\bnbgrader=(?=\{)", re.M)


def exercise_points(root: Path, lesson: str) -> dict[str, float]:
    """The points of each exercise in a lesson's text (py:percent), in order; none if there is no text."""
    decoder, found = json.JSONDecoder(), dict[str, float]()
    path = root / "source" / f"{lesson}.py"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for mark in MARKS.finditer(text):
        try:
            marks, _ = decoder.raw_decode(text, mark.end())
        except ValueError:
            continue
        graded = marks.get("grade") and not marks.get("solution") and "grade_id" in marks
        if graded and str(marks["grade_id"]).startswith(CHECK):
            found[marks["grade_id"].removeprefix(CHECK)] = float(marks.get("points", 0))
    return found


def points_asked(root: Path, lesson: str, change: LessonChange) -> dict[str, float]:
    """The exercises of a lesson that a course uses, with the course's points."""
    points = exercise_points(root, lesson)
    return {name: float(change.points.get(name, points[name])) for name in points if name not in change.left_out}
