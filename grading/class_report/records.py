"""The class report as records for other programs (`grading report --json`).

docs/json.md describes the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..points import rounded
from .mistakes import named
from .model import EXCUSED, ClassGrades, quartiles

NOT_GRADED, NEEDS_A_PERSON, GRADED = "not graded", "needs a person", "graded"


def report_records(grades: ClassGrades) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each record's name and fields.

    Points are None while something needs a person.
    """
    yield from sorted(_grades(grades), key=lambda item: (item[1]["lesson"], item[1]["student"]))
    for answer in grades.answers:
        yield (
            "exercise",
            {
                "lesson": answer.lesson,
                "student": answer.student,
                "exercise": answer.exercise,
                "points": None if answer.points is None else rounded(answer.points),
                "most": answer.verdict.points,
                "status": answer.verdict.status,
                "needs_a_person": answer.waiting,
                "mistake": answer.verdict.mistake_names,
            },
        )
    for row in named(grades.answers):
        yield (
            "mistake",
            {
                "lesson": row.lesson,
                "exercise": row.exercise,
                "mistake": row.name,
                "count": row.count,
                "section": row.see,
            },
        )
    for lesson in grades.lessons:
        whole = grades.whole(lesson)
        graded = [one for one in grades.submissions if one.lesson == lesson]
        yield (
            "summary",
            {
                "lesson": lesson,
                "graded": len(graded),
                "open": len(graded) - len(whole),
                "most": graded[0].most,
                "median_percent": round(quartiles(whole)[1], 4) if whole else None,
            },
        )


def _grades(grades: ClassGrades) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in grades.submissions:
        status, points = (NEEDS_A_PERSON, None) if one.open else (GRADED, rounded(one.points))
        yield _grade(one.lesson, one.student, status, points, one.most)
    for pairs, status in ((grades.ungraded, NOT_GRADED), (grades.excused, EXCUSED)):
        for student, lesson in pairs:
            yield _grade(lesson, student, status, None, None)


def _grade(
    lesson: str, student: str, status: str, points: float | None, most: float | None
) -> tuple[str, dict[str, Any]]:
    return "grade", {"lesson": lesson, "student": student, "status": status, "points": points, "most": most}
