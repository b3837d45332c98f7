"""Grant extensions and excuses, and read the history of grades."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from nbgrader.api import Gradebook

from ..course import Course
from ..course_dir.course_time import after, by_the_clock, parse_local, shown
from ..errors import StepFailed
from ..gradebook.accommodations import Accommodation, accommodations, grant
from ..gradebook.history import PastGrade, past_grades
from ..gradebook.late_rules import in_words


def history(course: Course) -> list[PastGrade]:
    """All replaced grades."""
    with course.gradebook() as gradebook:
        return list(past_grades(gradebook))


def extend(
    course: Course,
    lesson: str,
    students: Sequence[str],
    *,
    days: float | None = None,
    hours: float | None = None,
    until: str | None = None,
    why: str = "",
) -> Iterator[str]:
    """Extend a deadline by days of the calendar, by hours or to a time; without any of them, remove an extension.

    Yields one line per student. Raises StepFailed, and changes nothing, for an unknown student or lesson, a lesson
    without a due date, or an invalid time.
    """
    zone = course.zone
    with course.gradebook() as gradebook:
        before = _accommodations_of(course, gradebook, lesson, students)
        due = gradebook.find_assignment(lesson).duedate
        if due is None:
            raise StepFailed(
                f"{lesson} has no due date, so no submission is late. Set `due` in course.toml, then run "
                "`grading grade`"
            )
        try:
            end = parse_local(until, zone) if until else None if hours is None else due + timedelta(hours=hours)
            end = end if days is None else after(due, timedelta(days=days), zone)
        except (ValueError, OverflowError):
            raise StepFailed(f'{until!r} is not a valid time. Write it like "2026-11-22 23:59"') from None
        if end is not None and end <= due:
            raise StepFailed(f"an extension must end after the due date, {shown(due, zone)}")
        more = None if end is None else by_the_clock(due, end, zone)
        for accommodation in before:
            grant(gradebook, replace(accommodation, more=more, why=why or accommodation.why), zone)
            new_deadline = (
                f"{in_words(more)} more, until {shown(end, zone)}"
                if more and end
                else f"due {shown(due, zone)}, like everybody else"
            )
            yield f"{accommodation.student}, {lesson}: {new_deadline}"


def excuse(course: Course, lesson: str, students: Sequence[str], granted: bool, why: str = "") -> Iterator[str]:
    """Excuse students from a lesson, or cancel their excuses.

    Yields one line per student. Raises StepFailed for an unknown student or lesson.
    """
    zone = course.zone
    with course.gradebook() as gradebook:
        for accommodation in _accommodations_of(course, gradebook, lesson, students):
            grant(gradebook, replace(accommodation, excused=granted, why=why or accommodation.why), zone)
            yield f"{accommodation.student}, {lesson}: {'excused; it does not count' if granted else 'counts'}"


def _accommodations_of(
    course: Course, gradebook: Gradebook, lesson: str, students: Sequence[str]
) -> list[Accommodation]:
    """The current accommodations of these students.

    Raises StepFailed for an unknown student or lesson.
    """
    if not course.is_registered(lesson):
        raise StepFailed(f"the gradebook has no lesson {lesson}: run `grading release {lesson}` first")
    there = {student.id for student in gradebook.students}
    if strange := [student for student in students if student not in there]:
        add = shlex.join(["nbgrader", "db", "student", "add", strange[0]])
        raise StepFailed(f"the gradebook has no student {', '.join(strange)}: add one with `{add}`")
    granted = {row.student: row for row in accommodations(gradebook, lesson)}
    return [granted.get(student, Accommodation(lesson, student)) for student in dict.fromkeys(students)]
