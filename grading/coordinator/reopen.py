"""Reopen a student's grade, with a reason, so that a person looks at it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from nbgrader.api import MissingEntry

from ..course import Course
from ..errors import StepFailed
from ..gradebook import history, open_grades
from ..gradebook.lock import exclusive
from ..gradebook.store import stored_grades
from ..notebooks.cells import exercise_named


def reopen(course: Course, student: str, lesson: str, exercise: str, because: str) -> list[str]:
    """Reopen one exercise or question of a graded submission; returns the names.

    `exercise`: "" for all of the lesson's.

    The history keeps the old points and the reason. Raises StepFailed for an unknown name or a missing grade,
    CourseLocked while the course is being graded.
    """
    if not course.is_registered(lesson):
        raise StepFailed(f"the gradebook has no lesson {lesson}: run `grading release {lesson}` first")
    opened = list[str]()
    with exclusive(course.root), course.gradebook() as gradebook:
        grades = list(stored_grades(gradebook, lesson, student))
        try:
            submission = gradebook.find_submission(lesson, student)
        except MissingEntry:
            grades = []
        if not grades:
            known = {grade.student for grade in stored_grades(gradebook, lesson)}
            raise StepFailed(f"{student} has no grade of {lesson}{_nearest(student, known)}")
        rows = {notebook.name: notebook for notebook in submission.notebooks}
        there = {exercise_named(row.name) for notebook in rows.values() for row in notebook.grades}
        if exercise and exercise not in there:
            raise StepFailed(f"{lesson} has no exercise or question {exercise}{_nearest(exercise, there)}")
        for grade in grades:
            submitted = rows[grade.notebook]
            chosen = [row for row in submitted.grades if exercise in ("", exercise_named(row.name))]
            if chosen:
                names = sorted(exercise_named(row.name) for row in chosen)
                was = history.score_snapshot(submitted, grade.verdicts)
                since = [f"{', '.join(names)} reopened: {because}"]
                history.archive(gradebook, submitted.id, grade.graded_at, since, was, {})
                open_grades.reopen(gradebook, submitted, chosen, because)
                opened += names
        gradebook.db.commit()
    return opened


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else f" (there are: {', '.join(sorted(known)) or 'none'})"
