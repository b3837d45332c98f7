"""Extensions, excuses and the history of grades, by the names of lessons and students."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.utils import parse_utc

from ..errors import StepFailed
from ..gradebook.accommodations import Accommodation, accommodations, grant
from ..gradebook.history import PastGrade, past_grades
from ..gradebook.late_rules import in_words, shown
from .nbgrader_api import is_registered, open_gradebook


def history(root: Path) -> list[PastGrade]:
    """Every grade that another took the place of."""
    with open_gradebook(root) as gradebook:
        return list(past_grades(gradebook))


def extend(
    root: Path, lesson: str, students: Sequence[str], seconds: float | None, until: str | None = None, why: str = ""
) -> Iterator[str]:
    """Give students so many seconds after the due date, or time until then; neither: take it back. Says what is so now.

    Raises StepFailed where there is no due date, no such student or lesson, or no time; then nobody got anything.
    """
    with open_gradebook(root) as gradebook:
        before = _leaves(root, gradebook, lesson, students)
        due = gradebook.find_assignment(lesson).duedate
        if due is None:
            raise StepFailed(
                f"{lesson} has no due date, so that nothing is late: "
                f'`nbgrader db assignment add {lesson} --duedate "2026-11-20 23:59:00 UTC"` gives it one'
            )
        if until:
            try:
                seconds = (parse_utc(until) - due).total_seconds()
            except (ValueError, OverflowError):
                raise StepFailed(f'no time is {until!r}: write it as "2026-11-22 23:59 UTC"') from None
        if seconds is not None and seconds <= 0:
            raise StepFailed(f"that is not after the due date, {shown(due)}: an extension is time after it")
        more = None if seconds is None else timedelta(seconds=seconds)
        for one in before:
            grant(gradebook, replace(one, more=more, why=why or one.why))
            said = f"{in_words(more)} more, until {shown(due + more)}" if more else f"due {shown(due)}, as everybody"
            yield f"{one.student}, {lesson}: {said}"


def excuse(root: Path, lesson: str, students: Sequence[str], granted: bool, why: str = "") -> Iterator[str]:
    """Excuse students from a lesson, or take that back. Says what is so now. Raises StepFailed as `extend` does."""
    with open_gradebook(root) as gradebook:
        for one in _leaves(root, gradebook, lesson, students):
            grant(gradebook, replace(one, excused=granted, why=why or one.why))
            yield f"{one.student}, {lesson}: {'excused; it does not count' if granted else 'counts'}"


def _leaves(root: Path, gradebook: Gradebook, lesson: str, students: Sequence[str]) -> list[Accommodation]:
    """What these students were granted so far. Raises StepFailed."""
    if not is_registered(root, lesson):
        raise StepFailed(f"the gradebook has no lesson {lesson}: `grading release {lesson}` first")
    there = {one.id for one in gradebook.students}
    if strange := [student for student in students if student not in there]:
        raise StepFailed(
            f"the gradebook has no student {', '.join(strange)}: `nbgrader db student add {strange[0]}` adds one"
        )
    granted = {one.student: one for one in accommodations(gradebook, lesson)}
    return [granted.get(student, Accommodation(lesson, student)) for student in dict.fromkeys(students)]
