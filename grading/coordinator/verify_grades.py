"""Compute grades again from their recorded seeds and compare them.

Writes nothing. Useful for appeals, and to check that two machines grade alike.

Does not cover: writing new grades (`recalculate`).
"""

from __future__ import annotations

import copy
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from traitlets.config import Config

from ..course import Course
from ..course_dir.seeds import find_seed
from ..errors import GradingError, SubmissionNotGraded
from ..gradebook.freshness import LessonFreshness
from ..gradebook.store import StoredGrade
from ..grader.verdict import ExerciseVerdict
from ..nbgrader_plugins.execute import lesson_freshness
from ..notebooks.cells import grade_id
from ..notebooks.verdict_cell import is_autograded, verdict_of
from ..points import points_text, rounded
from ..sandbox import require
from .executors import Workers, threads
from .schedule import grade_each, task_of
from .submission import GradedNotebook, GradingTask


@dataclass(frozen=True)
class Regraded:
    """One grade computed again.

    differs  differences by exercise, as sentences; empty if the grade is the same
    changed  sentences on which inputs have changed since the grade was made
    failed   why it could not be computed; "" if it was
    """

    lesson: str
    student: str
    differs: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed: str = ""

    def __str__(self) -> str:
        name = f"{self.lesson}, {self.student}"
        if self.failed:
            return f"{name}: not computed, {self.failed}"
        since = f" (since then: {' and '.join(self.changed)})" if self.changed else ""
        return f"{name}: {'; '.join(self.differs) or 'the same, to the last criterion'}{since}"


def verify_grades(
    course: Course,
    names: Iterable[str],
    *,
    students: Container[str] | None = None,
    seed: str = "",
    workers: int = 1,
) -> Iterator[Regraded]:
    """Compute the grades of these lessons again and compare.

    seed  id of a seed to use instead of the recorded one

    Raises SandboxUnavailable if this machine cannot confine student code, unless the course is graded without the
    sandbox.
    """
    if course.sandboxed:
        require()
    with threads(workers) as executor:
        for lesson in course.lessons(names):
            if course.is_registered(lesson):
                yield from _verify_lesson(course, lesson, students, seed, executor)


def _verify_lesson(
    course: Course, lesson: str, students: Container[str] | None, seed: str, workers: Workers
) -> Iterator[Regraded]:
    coursedir = course.directory()
    now = lesson_freshness(coursedir, course.config, lesson)
    chosen = [student for student in sorted(now.grades) if students is None or student in students]

    @cache
    def freshness_with(seed: str) -> LessonFreshness:
        try:
            secret = find_seed(seed, course.root, now.execute.secret)
        except LookupError as error:
            raise SubmissionNotGraded(str(error.args[0])) from None
        return lesson_freshness(coursedir, _with_secret(course.config, secret), lesson)

    def freshness_then(student: str) -> LessonFreshness:
        return freshness_with(seed or _seed_of(now.grades[student]))

    def make_task(student: str) -> GradingTask:
        freshness = freshness_then(student)
        return task_of(freshness, freshness.execute.config, student)

    found, left = dict[str, Regraded](), iter(chosen)
    following = next(left, None)
    for student, made in grade_each(chosen, make_task, workers):
        if isinstance(made, GradingError):
            found[student] = Regraded(lesson, student, failed=str(made))
        else:
            stored, (_, graded) = now.grades[student], made
            differs = list(otherwise(stored.verdicts, verdicts_in(graded)))
            found[student] = Regraded(lesson, student, differs, freshness_then(student).differences(stored))
        while following in found:
            yield found.pop(following)
            following = next(left, None)


def _seed_of(stored: StoredGrade) -> str:
    """The id of the seed recorded with a grade.

    Raises SubmissionNotGraded unless there is exactly one.
    """
    names = {str(verdict.seed) for verdict in stored.verdicts.values() if not verdict.grader_error}
    if len(names) != 1:
        seeds = ", ".join(sorted(names)) or "none"
        raise SubmissionNotGraded(f"expected one seed recorded with this grade, got {seeds}")
    return names.pop()


def _with_secret(config: Config, secret: str) -> Config:
    config = copy.deepcopy(config)
    config.JudgedExecute.seed = secret
    return config


def verdicts_in(graded: GradedNotebook) -> dict[str, ExerciseVerdict]:
    """Verdicts by grade cell, as the gradebook stores them."""
    return {grade_id(cell): verdict_of(cell) for cell in graded.notebook.cells if is_autograded(cell)}


def otherwise(before: Mapping[str, ExerciseVerdict], now: Mapping[str, ExerciseVerdict]) -> Iterator[str]:
    """Sentences on how verdicts differ: in points, criteria, or the named mistake."""
    for name, old in before.items():
        new = now.get(name)
        if new is None:
            yield f"{old.exercise}: its cell is missing"
        elif _compared_fields(old) != _compared_fields(new):
            lost = [c.name for c, other in zip(new.criteria, old.criteria, strict=False) if c.status != other.status]
            which = f" ({', '.join(lost)})" if lost else ""
            yield f"{old.exercise}: {_to_text(old)} before, {_to_text(new)} now{which}"


def _compared_fields(verdict: ExerciseVerdict) -> tuple[object, ...]:
    criteria = [(c.name, c.status, c.earned) for c in verdict.criteria]
    return rounded(verdict.earned), verdict.status, verdict.mistake_names, criteria


def _to_text(verdict: ExerciseVerdict) -> str:
    named = f", {verdict.mistake_names}" if verdict.mistake_names else ""
    return f"{points_text(verdict.earned)} of {points_text(verdict.points)}, {verdict.status}{named}"
