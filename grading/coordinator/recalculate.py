"""Regrade a class after its graders, points, seed or late policy changed.

The caller sees all changes before they are written. Grades each submission only once, as `grading grade` would. Manual
points stay, and replaced grades go to the history (`gradebook.history`).

Does not cover: comparing grades with a run from their recorded seeds (`verify_grades`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from ..course_dir.course_time import after, zone_of
from ..course_dir.lessons import list_lessons
from ..errors import StepFailed, SubmissionNotGraded
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
from ..sandbox import SandboxUnavailable, require
from ..stopped import tell_if_stopped
from .agreement import demand_agreement
from .due_dates import due_dates_tried
from .executors import pool
from .gradebook_writer import Writer, time_of
from .nbgrader_api import configuration, is_registered
from .schedule import not_graded, task_of
from .submission import GradedNotebook, GradingTask, grade
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

    standing: LessonFreshness
    config: Config
    grades: list[tuple[GradingTask, GradedNotebook]] = field(default_factory=list)
    penalties: dict[str, dict[str, str]] = field(default_factory=dict)


def recalculate(
    root: Path,
    names: Iterable[str],
    agreed: Callable[[list[GradeChange]], bool],
    *,
    students: Container[str] | None = None,
    unsandboxed: bool = False,
    workers: int = 1,
) -> int:
    """Regrade what is out of date; returns how many grades were written.

    agreed  called with all changes; returns whether to write them

    Starts no judge if only a due date, an extension or the late policy changed.

    Locks the course. Raises CourseLocked. Raises SandboxUnavailable if a judge is needed and this machine cannot
    confine student code, unless `unsandboxed` or the course's configuration allows grading without a sandbox. Raises
    StepFailed if release, source and graders of a lesson disagree.
    """
    config = configuration(root, unsandboxed=unsandboxed)
    regrades, found, written = list[_LessonRegrade](), list[GradeChange](), 0
    nothing = "No grade was changed. The comparison is lost; run the same command again."
    with exclusive(root), tell_if_stopped(lambda: nothing), pool(workers) as executor:
        lessons = list_lessons(root, names, ordinary=True)
        demand_agreement(root, lessons)
        with due_dates_tried(root, lessons) as keep:
            for lesson in lessons:
                if is_registered(root, lesson):
                    regrades.append(
                        _LessonRegrade(lesson_freshness(CourseDirectory(config=config), config, lesson), config)
                    )
                    found += _regrade_lesson(regrades[-1], students, executor)
            if agreed(found):
                keep()
                written = sum(_write(regrade) for regrade in regrades)
    return written


def _regrade_lesson(
    regrade: _LessonRegrade, students: Container[str] | None, executor: Executor
) -> Iterator[GradeChange]:
    standing, begun = regrade.standing, []

    def failed(student: str, since: list[str], error: Exception) -> GradeChange:
        nothing = ScoreSnapshot({})
        return GradeChange(standing.lesson, student, since, nothing, nothing, failed=str(not_graded(error)))

    for student in standing.grades:
        since = list[str]()
        try:
            since = standing.stale_reasons(student) if students is None or student in students else []
            if only_lateness(since):
                yield _new_penalty(regrade, student, since)
            elif since:
                if not regrade.config.JudgedExecute.get("unsandboxed", False):
                    require()
                task = task_of(standing, regrade.config, student)
                begun.append((student, since, task, executor.submit(grade, task)))
        except SandboxUnavailable:
            raise
        except Exception as error:  # one submission must not stop the class
            yield failed(student, since, error)
    for student, since, task, waiting in begun:
        try:
            graded = waiting.result()
            compared = _compare_grades(regrade, task, graded, since)
        except SandboxUnavailable:
            raise
        except Exception as error:
            yield failed(student, since, error)
        else:
            regrade.grades.append((task, graded))
            yield compared


def _new_penalty(regrade: _LessonRegrade, student: str, since: list[str]) -> GradeChange:
    """The effect of a change of lateness alone: verdicts stay, so nothing is judged. Raises SubmissionNotGraded."""
    standing, made_of = regrade.standing, regrade.standing.made_of(student)
    with _gradebook(standing) as gradebook:
        submitted = gradebook.find_submission_notebook(standing.lesson, standing.lesson, student)
        before = score_snapshot(submitted, standing.grades[student].verdicts)
        times = _due_and_came(standing, gradebook, submitted, student, made_of["timestamp"])
    regrade.penalties[student] = made_of
    return GradeChange(standing.lesson, student, since, before, _after_penalty(standing, student, before, *times))


def _after_penalty(
    standing: LessonFreshness, student: str, now: ScoreSnapshot, due: datetime | None, came: datetime | None
) -> ScoreSnapshot:
    whole = replace(now, penalty=0.0)
    lost = late_rules.penalty(standing.penalties, student, whole.points, due, came) or 0.0
    return replace(whole, penalty=lost)


def _compare_grades(
    regrade: _LessonRegrade, task: GradingTask, graded: GradedNotebook, since: list[str]
) -> GradeChange:
    """Compare a new grade with the stored one.

    Raises SubmissionNotGraded if the time of submission is not valid.
    """
    standing, student = regrade.standing, task.student
    old, new = standing.grades[student].verdicts, verdicts_in(graded)
    with _gradebook(standing) as gradebook:
        submitted = gradebook.find_submission_notebook(standing.lesson, standing.lesson, student)
        before = score_snapshot(submitted, old)
        marks = marks_to_come(gradebook, submitted, standing.grades[student], graded.notebook, task.made_of)
        now = _new_snapshot(submitted, before, new, marks)
        times = _due_and_came(standing, gradebook, submitted, student, task.made_of["timestamp"])
    now = _after_penalty(standing, student, now, *times)
    return GradeChange(standing.lesson, student, since, before, now, list(otherwise(old, new)))


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
    standing: LessonFreshness, gradebook: Gradebook, submitted: SubmittedNotebook, student: str, text: str
) -> tuple[datetime | None, datetime | None]:
    """When it is due, with an extension, and when it came.

    text: of timestamp.txt. Raises SubmissionNotGraded if that is not a time.
    """
    submission = submitted.assignment
    granted = {row.student: row.more for row in accommodations(gradebook, submission.assignment.name)}
    came, due = time_of(text) if text else submission.timestamp, submission.assignment.duedate
    if due and (more := granted.get(student)):
        return after(due, more, zone_of(standing.execute.config)), came
    return submission.duedate, came


def _write(new: _LessonRegrade) -> int:
    """Write a lesson's new grades.

    Raises StepFailed if one cannot be written; grades written before it stay.
    """
    number, wanted = 0, [task.student for task, _ in new.grades] + list(new.penalties)

    def kept() -> str:
        return (
            f"{number} of {len(wanted)} grades of {new.standing.lesson} are written and kept; run the same command "
            "again for the others."
        )

    with tell_if_stopped(kept), Writer(new.standing.coursedir, new.config, new.standing) as writer:
        by_student = {task.student: (task, graded) for task, graded in new.grades}
        for number, student in enumerate(wanted):
            try:
                if student in new.penalties:
                    writer.write_lateness(student, new.penalties[student])
                else:
                    task, graded = by_student[student]
                    writer.write(graded, task.made_of)
            except (SubmissionNotGraded, OSError, SQLAlchemyError) as error:
                raise StepFailed(
                    f"{new.standing.lesson}, {student}: the grade cannot be written: {error}. {number} of this "
                    "lesson are written and kept; run the same command again for the others"
                ) from error
    return len(wanted)


def _gradebook(standing: LessonFreshness) -> AbstractContextManager[Gradebook]:
    opened: AbstractContextManager[Gradebook] = Gradebook(standing.coursedir.db_url, standing.coursedir.course_id)
    return opened
