"""The page's tables as CSV files."""

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


def write(course: Course, graders: MistakeTexts, folder: Path) -> Iterator[Path]:
    """Write the tables into a folder, which is made if need be; gives each file that was written. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, rows) in _tables(course, graders).items():
        write_rows(folder / name, columns, rows)
        yield folder / name


def _tables(course: Course, graders: MistakeTexts) -> dict[str, tuple[list[str], Rows]]:
    made = [asdict(one) | {"text": graders.text(one.lesson, one.exercise, one.name)} for one in named(course.answers)]
    without = [asdict(one) | {"criteria": "; ".join(one.criteria)} for one in unnamed(course.answers)]
    return {
        "criteria.csv": (
            ["lesson", "exercise", "criterion", "answers", "begun", "easiness", "discrimination"],
            [asdict(one) for one in items(course)],
        ),
        "mistakes.csv": (["lesson", "exercise", "name", "count", "likely", "see", "text", "example"], made),
        "families.csv": (
            ["family", "students", "count", "exercises"],
            [asdict(one) | {"exercises": "; ".join(one.exercises)} for one in by_family(course.answers)],
        ),
        "without-a-name.csv": (["lesson", "exercise", "criteria", "finding", "count", "example"], without),
        "points.csv": (["student", *course.lessons], [_points(course, student) for student in course.students]),
        "students.csv": (
            ["student", "lesson", "points", "most", "open", "handed_in", "excused"],
            [
                *(asdict(one) for one in course.submissions),
                *({"student": who, "lesson": lesson, "excused": True} for who, lesson in course.excused),
            ],
        ),
    }


def _points(course: Course, student: str) -> dict[str, Any]:
    """A line with everything of one student; empty: not handed in, not graded, or without all points yet."""
    own = (s for lesson in course.lessons for s in course.whole(lesson) if s.student == student)
    free = {lesson: EXCUSED for who, lesson in course.excused if who == student and lesson in course.lessons}
    return dict.fromkeys(course.lessons, "") | {"student": student} | {s.lesson: s.points for s in own} | free
