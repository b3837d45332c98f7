"""The class report's tables as CSV files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..safe_csv import write_rows
from .item_analysis import items
from .mistake_texts import MistakeTexts
from .mistakes import by_family, named, unnamed
from .model import EXCUSED, Course

Rows = list[dict[str, Any]]
TEXTS = ("headline", "advice")  # of a mistake


def write(course: Course, graders: MistakeTexts, folder: Path) -> Iterator[Path]:
    """Write the tables to a folder, created if missing; yields each file's path.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, rows) in _tables(course, graders).items():
        write_rows(folder / name, columns, rows)
        yield folder / name


def _tables(course: Course, graders: MistakeTexts) -> dict[str, tuple[list[str], Rows]]:
    known = [
        asdict(row) | dict(zip(TEXTS, graders.explain(row.lesson, row.exercise, row.name), strict=True))
        for row in named(course.answers)
    ]
    without = [asdict(row) | {"criteria": "; ".join(row.criteria)} for row in unnamed(course.answers)]
    return {
        "criteria.csv": (
            ["lesson", "exercise", "criterion", "answers", "begun", "easiness", "discrimination"],
            [asdict(item) for item in items(course)],
        ),
        "mistakes.csv": (["lesson", "exercise", "name", "count", "likely", "see", *TEXTS, "example"], known),
        "families.csv": (
            ["family", "students", "count", "exercises"],
            [asdict(row) | {"exercises": "; ".join(row.exercises)} for row in by_family(course.answers)],
        ),
        "without-a-name.csv": (["lesson", "exercise", "criteria", "finding", "count", "example"], without),
        "points.csv": (["student", *course.lessons], [_points(course, student) for student in course.students]),
        "students.csv": (
            ["student", "lesson", "points", "most", "open", "handed_in", "excused"],
            [
                *(asdict(submission) for submission in course.submissions),
                *({"student": who, "lesson": lesson, "excused": True} for who, lesson in course.excused),
            ],
        ),
    }


def _points(course: Course, student: str) -> dict[str, Any]:
    """One student's row.

    A cell is empty if the lesson is not handed in, not graded, or still lacks points.
    """
    own = (s for lesson in course.lessons for s in course.whole(lesson) if s.student == student)
    excused = {lesson: EXCUSED for who, lesson in course.excused if who == student and lesson in course.lessons}
    return dict.fromkeys(course.lessons, "") | {"student": student} | {s.lesson: s.points for s in own} | excused
