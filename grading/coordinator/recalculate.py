"""Grades made anew after a grader, a point, a seed or a rule was changed: who gains and who loses, then written.

What is shown is what is written: each submission is judged once, as `grading grade` would judge it. Points that a
person gave stay, and the grade that was is kept in the history (`nbgrader_plugins.history`).

Does not cover: grades computed again by the seed recorded with each, to see that they are the same (`regrading`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from ..course_dir.paths import list_lessons
from ..errors import NotHandedIn, StepFailed, SubmissionNotGraded
from ..gradebook import late_rules
from ..gradebook.accommodations import accommodations
from ..gradebook.freshness import LessonFreshness
from ..gradebook.history import Score, ScoreSnapshot, score_snapshot
from ..gradebook.lock import exclusive
from ..grader.verdict import ExerciseVerdict
from ..nbgrader_plugins.execute import lesson_freshness
from ..notebooks.cells import exercise_named
from ..sandbox import require
from .executors import pool
from .gradebook_writer import Writer, time_of
from .nbgrader_api import configuration, is_registered
from .schedule import task_of
from .submission import GradedNotebook, GradingTask, grade
from .verify_grades import otherwise, verdicts_in


@dataclass(frozen=True)
class GradeChange:
    """One grade as it is and as it would be. differs: by exercise, in words; failed: why it could not be made."""

    lesson: str
    student: str
    since: list[str]
    before: ScoreSnapshot
    now: ScoreSnapshot
    differs: list[str] = field(default_factory=list)
    failed: str = ""

    @property
    def gained(self) -> float:
        """Points more, or fewer."""
        return round(self.now.points - self.before.points, 4)

    @property
    def same(self) -> bool:
        return not self.failed and not self.differs and self.before.penalty == self.now.penalty


@dataclass
class _Made:
    """What is to be written of one lesson."""

    standing: LessonFreshness
    config: Config
    grades: list[tuple[GradingTask, GradedNotebook]] = field(default_factory=list)


def recalculate(
    root: Path,
    names: Iterable[str],
    agreed: Callable[[list[GradeChange]], bool],
    *,
    students: Container[str] | None = None,
    unsandboxed: bool = False,
    workers: int = 1,
) -> int:
    """Judge anew what has a grade that does not stand any more; returns how many grades were written.

    agreed  is shown all of them, and says whether they are to be written

    Nobody else grades meanwhile. Raises CourseLocked, and SandboxUnavailable where this machine cannot confine student
    code, unless `unsandboxed` or the course's configuration says to do without.
    """
    config = configuration(root, unsandboxed=unsandboxed)
    if not config.JudgedExecute.get("unsandboxed", False):
        require()
    made, found, written = list[_Made](), list[GradeChange](), 0
    with exclusive(root), pool(workers) as executor:
        for lesson in list_lessons(root, names):
            if is_registered(root, lesson):
                made.append(_Made(lesson_freshness(CourseDirectory(config=config), config, lesson), config))
                found += _of_lesson(made[-1], students, executor)
        if agreed(found):
            written = sum(_write(one) for one in made)
    return written


def _of_lesson(made: _Made, students: Container[str] | None, executor: Executor) -> Iterator[GradeChange]:
    standing, begun = made.standing, []
    nothing = ScoreSnapshot({})
    for student in standing.grades:
        since = standing.stale_reasons(student) if students is None or student in students else []
        if since:
            try:
                task = task_of(standing, made.config, student)
            except NotHandedIn as error:
                yield GradeChange(standing.lesson, student, since, nothing, nothing, failed=str(error))
            else:
                begun.append((student, since, task, executor.submit(grade, task)))
    for student, since, task, waiting in begun:
        try:
            graded = waiting.result()
            compared = _compared(made, task, graded, since)
        except SubmissionNotGraded as error:
            yield GradeChange(standing.lesson, student, since, nothing, nothing, failed=str(error))
        else:
            made.grades.append((task, graded))
            yield compared


def _compared(made: _Made, task: GradingTask, graded: GradedNotebook, since: list[str]) -> GradeChange:
    """Raises SubmissionNotGraded where nobody can tell when it was handed in."""
    standing, student = made.standing, task.student
    old, new = standing.grades[student].verdicts, verdicts_in(graded)
    with _gradebook(standing) as gradebook:
        submitted = gradebook.find_submission_notebook(standing.lesson, standing.lesson, student)
        before = score_snapshot(submitted, old)
        now = _as_it_would_be(submitted, before, new)
        seconds = _seconds_late(gradebook, submitted, task)
    lost = late_rules.penalty(standing.penalties, student, now.points, seconds) or 0.0
    return GradeChange(standing.lesson, student, since, before, replace(now, penalty=lost), list(otherwise(old, new)))


def _as_it_would_be(
    submitted: SubmittedNotebook, before: ScoreSnapshot, new: dict[str, ExerciseVerdict]
) -> ScoreSnapshot:
    """The points with these verdicts, without a penalty: those by hand as they are."""
    exercises = dict(before.exercises)
    extra = {grade.name: float(grade.extra_credit or 0.0) for grade in submitted.grades}
    for cell, verdict in new.items():
        name = exercise_named(cell)
        if name in exercises and not exercises[name].by_hand:
            points = None if verdict.status == "needs a person" else verdict.earned + extra[cell]
            exercises[name] = Score(points, verdict.points)
    return ScoreSnapshot(exercises)


def _seconds_late(gradebook: Gradebook, submitted: SubmittedNotebook, task: GradingTask) -> float:
    submission, text = submitted.assignment, task.made_of["timestamp"]
    granted = {one.student: one.more for one in accommodations(gradebook, submission.assignment.name)}
    came, due = time_of(text) if text else submission.timestamp, submission.assignment.duedate
    if came is None or due is None:
        return 0.0
    more = granted.get(task.student) or submission.extension or timedelta()
    return max(0.0, float((came - due - more).total_seconds()))


def _write(made: _Made) -> int:
    """Raises StepFailed where a grade cannot be written: those before it are."""
    with Writer(made.standing.coursedir, made.config, made.standing) as writer:
        for number, (task, graded) in enumerate(made.grades):
            try:
                writer.write(graded, task.made_of)
            except (SubmissionNotGraded, OSError, SQLAlchemyError) as error:
                raise StepFailed(
                    f"{made.standing.lesson}, {task.student}: the grade cannot be written: {error}. {number} of this "
                    "lesson are written and kept; run the same command again for the others"
                ) from error
    return len(made.grades)


def _gradebook(standing: LessonFreshness) -> AbstractContextManager[Gradebook]:
    opened: AbstractContextManager[Gradebook] = Gradebook(standing.coursedir.db_url, standing.coursedir.course_id)
    return opened
