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
from .model import EXCUSED, ClassGrades

Rows = list[dict[str, Any]]
TEXTS = ("headline", "advice")  # of a mistake


def write(grades: ClassGrades, graders: MistakeTexts, folder: Path) -> Iterator[Path]:
    """Write the tables to a folder, created if missing; yields each file's path.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, rows) in _tables(grades, graders).items():
        write_rows(folder / name, columns, rows)
        yield folder / name


def _tables(grades: ClassGrades, graders: MistakeTexts) -> dict[str, tuple[list[str], Rows]]:
    known = [
        asdict(row) | dict(zip(TEXTS, graders.explain(row.lesson, row.exercise, row.name), strict=True))
        for row in named(grades.answers)
    ]
    without = [asdict(row) | {"criteria": "; ".join(row.criteria)} for row in unnamed(grades.answers)]
    return {
        "criteria.csv": (
            ["lesson", "exercise", "criterion", "answers", "begun", "easiness", "discrimination"],
            [asdict(item) for item in items(grades)],
        ),
        "mistakes.csv": (["lesson", "exercise", "name", "count", "likely", "see", *TEXTS, "example"], known),
        "families.csv": (
            ["family", "students", "count", "exercises"],
            [asdict(row) | {"exercises": "; ".join(row.exercises)} for row in by_family(grades.answers)],
        ),
        "without-a-name.csv": (["lesson", "exercise", "criteria", "finding", "count", "example"], without),
        "points.csv": (["student", *grades.lessons], [_points(grades, student) for student in grades.students]),
        "students.csv": (
            ["student", "lesson", "points", "most", "open", "handed_in", "excused"],
            [
                *(asdict(submission) for submission in grades.submissions),
                *({"student": who, "lesson": lesson, "excused": True} for who, lesson in grades.excused),
            ],
        ),
    }


def _points(grades: ClassGrades, student: str) -> dict[str, Any]:
    """One student's row.

    A cell is empty if the lesson is not handed in, not graded, or still lacks points.
    """
    own = (s for lesson in grades.lessons for s in grades.whole(lesson) if s.student == student)
    excused = {lesson: EXCUSED for who, lesson in grades.excused if who == student and lesson in grades.lessons}
    return dict.fromkeys(grades.lessons, "") | {"student": student} | {s.lesson: s.points for s in own} | excused
