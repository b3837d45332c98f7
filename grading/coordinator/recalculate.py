"""Regrade a class after its graders, points, seed or late policy changed.

The caller sees all changes before they are written. Grades each submission only once, as `grading grade` would. Manual
points stay, and replaced grades go to the history (`gradebook.history`).

Does not cover: comparing grades with a run from their recorded seeds (`verify_grades`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nbgrader.api import Gradebook, SubmittedNotebook
from sqlalchemy.exc import SQLAlchemyError

from ..course import Course
from ..course_dir.course_time import after, zone_of
from ..errors import GradingError, StepFailed, SubmissionNotGraded
from ..gradebook import late_rules
from ..gradebook.accommodations import accommodations
from ..gradebook.freshness import LessonFreshness
from ..gradebook.grade_inputs import only_lateness
from ..gradebook.history import Score, ScoreSnapshot, score_snapshot
from ..gradebook.lock import exclusive
from ..gradebook.store import marks_to_come
from ..grader.verdict import ExerciseVerdict
from ..nbgrader_plugins.execute import lesson_freshness
from ..notebooks.cells import exercise_named
from ..points import rounded
from ..sandbox import require
from ..stopped import tell_if_stopped
from .agreement import demand_agreement
from .due_dates import due_dates_tried
from .executors import Workers, threads
from .gradebook_writer import Writer, time_of
from .schedule import grade_each, not_graded, task_of
from .submission import GradedNotebook, GradingTask
from .verify_grades import otherwise, verdicts_in


@dataclass(frozen=True)
class GradeChange:
    """A grade before and after a regrade.

    since    why it is out of date
    differs  changes by exercise, as sentences
    failed   why there is no new grade
    """

    lesson: str
    student: str
    since: list[str]
    before: ScoreSnapshot
    now: ScoreSnapshot
    differs: list[str] = field(default_factory=list)
    failed: str = ""

    @property
    def gained(self) -> float:
        """The change in points; negative if there are fewer."""
        return rounded(self.now.points - self.before.points)

    @property
    def same(self) -> bool:
        moved = self.gained or rounded(self.before.penalty - self.now.penalty) or self.before.open != self.now.open
        return not (self.failed or self.differs or moved)


@dataclass
class _LessonRegrade:
    """New grades of one lesson that are not written yet.

    `penalties`: grade inputs by student, if only the penalty is new.
    """

    course: Course
    freshness: LessonFreshness
    grades: dict[str, tuple[GradingTask, GradedNotebook]] = field(default_factory=dict)
    penalties: dict[str, dict[str, str]] = field(default_factory=dict)


def recalculate(
    course: Course,
    names: Iterable[str],
    agreed: Callable[[list[GradeChange]], bool],
    *,
    students: Container[str] | None = None,
    workers: int = 1,
) -> int:
    """Regrade what is out of date; returns how many grades were written.

    agreed  called with all changes; returns whether to write them

    Starts no judge if only a due date, an extension or the late policy changed.

    Locks the course. Raises CourseLocked. Raises SandboxUnavailable if a judge is needed and this machine cannot
    confine student code, unless the course is graded without the sandbox. Raises StepFailed if release, source and
    graders of a lesson disagree.
    """
    regrades, found, written = list[_LessonRegrade](), list[GradeChange](), 0
    nothing = "No grade was changed. The comparison is lost; run the same command again."
    with exclusive(course.root), tell_if_stopped(lambda: nothing), threads(workers) as executor:
        lessons = course.lessons(names)
        demand_agreement(course, lessons)
        with due_dates_tried(course, lessons) as keep:
            for lesson in lessons:
                if course.is_registered(lesson):
                    freshness = lesson_freshness(course.directory(), course.config, lesson)
                    regrades.append(_LessonRegrade(course, freshness))
                    found += _regrade_lesson(regrades[-1], students, executor)
            if agreed(found):
                keep()
                written = sum(_write(regrade) for regrade in regrades)
    return written


def _regrade_lesson(
    regrade: _LessonRegrade, students: Container[str] | None, workers: Workers
) -> Iterator[GradeChange]:
    """The changes, in the order of the gradebook but for those that need no judge, which come first."""
    freshness, to_grade, found = regrade.freshness, dict[str, list[str]](), dict[str, GradeChange]()

    def failed(student: str, since: list[str], error: Exception) -> GradeChange:
        nothing = ScoreSnapshot({})
        return GradeChange(freshness.lesson, student, since, nothing, nothing, failed=str(not_graded(error)))

    for student in freshness.grades:
        since = list[str]()
        try:
            since = freshness.stale_reasons(student) if students is None or student in students else []
            if only_lateness(since):
                yield _new_penalty(regrade, student, since)
            elif since:
                to_grade[student] = since
        except Exception as error:  # one submission must not stop the class
            yield failed(student, since, error)
    if to_grade and regrade.course.sandboxed:
        require()
    for student, made in grade_each(to_grade, lambda name: task_of(freshness, regrade.course.config, name), workers):
        try:
            if isinstance(made, GradingError):
                raise made
            found[student] = _compare_grades(regrade, *made, to_grade[student])
            regrade.grades[student] = made
        except Exception as error:
            found[student] = failed(student, to_grade[student], error)
    yield from (found[student] for student in to_grade)


def _new_penalty(regrade: _LessonRegrade, student: str, since: list[str]) -> GradeChange:
    """The effect of a change of lateness alone: verdicts stay, so nothing is judged. Raises SubmissionNotGraded."""
    freshness, made_of = regrade.freshness, regrade.freshness.grade_inputs(student)
    with regrade.course.gradebook() as gradebook:
        submitted = gradebook.find_submission_notebook(freshness.lesson, freshness.lesson, student)
        before = score_snapshot(submitted, freshness.grades[student].verdicts)
        times = _due_and_came(freshness, gradebook, submitted, student, made_of["timestamp"])
    regrade.penalties[student] = made_of
    return GradeChange(freshness.lesson, student, since, before, _after_penalty(freshness, student, before, *times))


def _after_penalty(
    freshness: LessonFreshness, student: str, now: ScoreSnapshot, due: datetime | None, came: datetime | None
) -> ScoreSnapshot:
    whole = replace(now, penalty=0.0)
    lost = late_rules.penalty(freshness.penalties, student, whole.points, due, came) or 0.0
    return replace(whole, penalty=lost)


def _compare_grades(
    regrade: _LessonRegrade, task: GradingTask, graded: GradedNotebook, since: list[str]
) -> GradeChange:
    """Compare a new grade with the stored one.

    Raises SubmissionNotGraded if the time of submission is not valid.
    """
    freshness, student = regrade.freshness, task.student
    old, new = freshness.grades[student].verdicts, verdicts_in(graded)
    with regrade.course.gradebook() as gradebook:
        submitted = gradebook.find_submission_notebook(freshness.lesson, freshness.lesson, student)
        before = score_snapshot(submitted, old)
        marks = marks_to_come(gradebook, submitted, freshness.grades[student], graded.notebook, task.made_of)
        now = _new_snapshot(submitted, before, new, marks)
        times = _due_and_came(freshness, gradebook, submitted, student, task.made_of["timestamp"])
    now = _after_penalty(freshness, student, now, *times)
    return GradeChange(freshness.lesson, student, since, before, now, list(otherwise(old, new)))


def _new_snapshot(
    submitted: SubmittedNotebook,
    before: ScoreSnapshot,
    new: Mapping[str, ExerciseVerdict],
    marks: Mapping[str, Mapping[str, Any]],
) -> ScoreSnapshot:
    """The points with the new verdicts, without a penalty.

    marks  what a person gave to changed answers before; manual points of the others stay
    """
    exercises = dict(before.exercises)
    for row in submitted.grades:
        name, verdict = exercise_named(row.name), new.get(row.name)
        given = marks.get(row.name, {"manual": row.manual_score, "extra": row.extra_credit})
        points, extra = given.get("manual"), float(given.get("extra") or 0.0)
        if points is not None:
            exercises[name] = replace(exercises[name], points=points + extra, by_hand=True)
        elif verdict is not None:
            open_ = verdict.status == "needs a person"
            exercises[name] = Score(None if open_ else verdict.earned + extra, verdict.points)
        elif row.name in marks:
            exercises[name] = Score(None, exercises[name].most)
    return ScoreSnapshot(exercises)


def _due_and_came(
    freshness: LessonFreshness, gradebook: Gradebook, submitted: SubmittedNotebook, student: str, text: str
) -> tuple[datetime | None, datetime | None]:
    """When it is due, with an extension, and when it came.

    text: of timestamp.txt. Raises SubmissionNotGraded if that is not a time.
    """
    submission = submitted.assignment
    granted = {row.student: row.more for row in accommodations(gradebook, submission.assignment.name)}
    came, due = time_of(text) if text else submission.timestamp, submission.assignment.duedate
    if due and (more := granted.get(student)):
        return after(due, more, zone_of(freshness.execute.config)), came
    return submission.duedate, came


def _write(new: _LessonRegrade) -> int:
    """Write a lesson's new grades.

    Raises StepFailed if one cannot be written; grades written before it stay.
    """
    number, wanted = 0, [*(name for name in new.freshness.grades if name in new.grades), *new.penalties]

    def kept() -> str:
        return (
            f"{number} of {len(wanted)} grades of {new.freshness.lesson} are written and kept; run the same command "
            "again for the others."
        )

    with tell_if_stopped(kept), Writer(new.freshness.coursedir, new.course.config, new.freshness) as writer:
        for number, student in enumerate(wanted):
            try:
                if student in new.penalties:
                    writer.write_lateness(student, new.penalties[student])
                else:
                    task, graded = new.grades[student]
                    writer.write(graded, task.made_of)
            except (SubmissionNotGraded, OSError, SQLAlchemyError) as error:
                raise StepFailed(
                    f"{new.freshness.lesson}, {student}: the grade cannot be written: {error}. {number} of this "
                    "lesson are written and kept; run the same command again for the others"
                ) from error
    return len(wanted)
