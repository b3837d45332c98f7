"""Write one file with everybody's points (`grading gradebook`).

One row per student, one column per lesson. A cell is empty, never 0, if the lesson was not handed in, is not graded, or
has only provisional points. It is EX if the student is excused. The column `missing` lists the lessons that a student
has not handed in.

Does not cover: the file for an LMS (`lms.gradebook_csv`), nbgrader's own exports (`nbgrader_plugins.csv_exporters`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry

from course.outline import counts

from ..course import Course
from ..errors import StepFailed
from ..points import rounded
from ..safe_csv import write_rows
from .class_data import load_class

EXCUSED = "EX"


@dataclass
class GradebookFile:
    """The written rows. Each list holds (lesson, student)."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    not_graded: list[tuple[str, str]] = field(default_factory=list)
    provisional: list[tuple[str, str]] = field(default_factory=list)


def write_gradebook(
    course: Course,
    to: Path,
    lessons: Sequence[str],
    *,
    students: Collection[str] | None = None,
    scale: float | None = None,
    total: bool = False,
    provisional: bool = False,
) -> GradebookFile:
    """Write the points of released lessons for everybody in the gradebook.

    scale        points that each whole lesson counts for, instead of its own
    total        add a column with each row's sum and one with its maximum
    provisional  count points that a person has yet to complete

    In a total, a lesson that was not handed in counts as 0 points. A lesson does not count if the student is excused or
    has no final points yet, and a warm-up never does. Raises StepFailed if none of these lessons is released.
    """
    grades, done = load_class(course), GradebookFile()
    found = {(one.lesson, one.student): one for one in grades.submissions}
    excused, ungraded = ({(lesson, who) for who, lesson in pairs} for pairs in (grades.excused, grades.ungraded))
    with course.gradebook() as gradebook:
        most = {}
        for lesson in lessons:
            try:
                most[lesson] = float(gradebook.find_assignment(lesson).max_score)
            except MissingEntry:
                continue  # not released: nobody can have points in it
        people = [
            {"student_id": one.id, "last_name": one.last_name, "first_name": one.first_name, "email": one.email}
            for one in gradebook.students
            if students is None or one.id in students
        ]
    if not most:
        raise StepFailed("nothing was written: none of these lessons is released. Run `grading release` first")
    for person in people:
        row, counted = {key: value or "" for key, value in person.items()}, dict[str, float]()
        for lesson in most:
            key = (lesson, str(person["student_id"]))
            one = found.get(key)
            if key in excused:
                row[lesson] = EXCUSED
            elif one and (provisional or not one.open):
                counted[lesson] = one.points if scale is None else one.share * scale
                row[lesson] = rounded(counted[lesson])
            elif one:
                done.provisional.append(key)
            elif key in ungraded:
                done.not_graded.append(key)
            elif counts(lesson):
                done.missing.append(key)
                counted[lesson] = 0.0
        row["missing"] = " ".join(lesson for lesson, who in done.missing if who == person["student_id"])
        if total:
            in_total = [lesson for lesson in counted if counts(lesson)]
            row["total"] = rounded(sum(counted[lesson] for lesson in in_total))
            row["out_of"] = sum(most[lesson] if scale is None else scale for lesson in in_total)
        done.rows.append(row)
    identity = ["student_id", "last_name", "first_name", "email"]
    write_rows(to, [*identity, *most, *(["total", "out_of"] if total else []), "missing"], done.rows)
    return done
