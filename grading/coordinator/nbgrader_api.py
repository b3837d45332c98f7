"""Call nbgrader in this process, with the course's own configuration.

Covers: loading `nbgrader_config.py`, running a converter for one assignment and student, querying the gradebook. Does
not cover: what the converters do (`nbgrader_plugins`), grading a class (`grade_class`).
"""

from __future__ import annotations

import glob
import logging
import os
import shlex
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import make_url
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config

from grading.errors import NotHandedIn, StepFailed
from grading.notebooks.cells import exercise_named

from ..course_dir.course_config import load_config
from ..course_dir.paths import CONFIG
from ..course_dir.seeds import course_seed
from ..course_dir.student_ids import why_unfit
from ..gradebook.open_grades import open_grades, total_points
from ..gradebook.store import stored_grades
from ..grader.verdict import ExerciseVerdict
from ..nbgrader_plugins.execute import lesson_freshness
from ..nbgrader_plugins.known_traits import demand_known_settings
from ..points import rounded
from ..submitted.submitted_dir import choose_file


@dataclass(frozen=True)
class StudentVerdict:
    """One verdict, with its student and lesson."""

    student: str
    lesson: str
    verdict: ExerciseVerdict


def configuration(root: Path, *, unsandboxed: bool = False) -> Config:
    """Load the course's configuration. `unsandboxed`: grade without the sandbox.

    Raises CourseFileError, and ConfigFileError for an invalid setting in nbgrader_config.py.
    """
    demand_known_settings(root / CONFIG)
    config = load_config(root)
    config.CourseDirectory.root = str(root)
    if unsandboxed:
        config.JudgedExecute.unsandboxed = True
    return config


def release(root: Path, lesson: str) -> Path:
    """Run `nbgrader generate_assignment` for a built lesson.

    Returns the release's folder. Draws the course's secret seed if it has none yet.
    """
    _run(GenerateAssignment, configuration(root), lesson, ".")
    course_seed(root)
    return root / "release" / lesson


def autograde(root: Path, lesson: str, student: str, *, again: bool = False, config: Config | None = None) -> bool:
    """Run `nbgrader autograde` for one submission; returns whether it ran.

    Does not run for an up-to-date grade unless `again` is set (`grading.gradebook.freshness`).
    """
    if why := why_unfit(student):
        raise StepFailed(f"{lesson}, {student}: {why}")
    config = config or configuration(root)
    try:
        choose_file(root / "submitted" / student / lesson, CourseDirectory(config=config), lesson)
    except NotHandedIn as error:
        raise StepFailed(f"{lesson}, {student}: {error}") from None
    if not again and not stale_reasons(root, lesson, student, config):
        return False
    _run(Autograde, config, lesson, student)
    return True


def feedback(root: Path, lesson: str, student: str) -> None:
    """Run `nbgrader generate_feedback` for one submission.

    Always runs, since comments may have changed.
    """
    if why := why_unfit(student):
        raise StepFailed(f"{lesson}, {student}: {why}")
    _convert(GenerateFeedback, configuration(root), lesson, student)


def handed_in(root: Path, lesson: str, step: str = "submitted") -> list[str]:
    """Students with a folder for this lesson in submitted/, or in another step."""
    return sorted(path.parent.name for path in (root / step).glob(f"*/{lesson}") if path.is_dir())


def hand_ins(root: Path, lesson: str) -> set[str]:
    """Students who have handed in this lesson, by submitted/ or the gradebook."""
    students = set(handed_in(root, lesson))
    if is_registered(root, lesson):
        with open_gradebook(root) as gradebook:
            students |= {submission.student.id for submission in gradebook.assignment_submissions(lesson)}
    return students


def demand_students(root: Path, students: Iterable[str]) -> None:
    """Raise StepFailed for a student who is not known to the course.

    Known students are in the gradebook or have handed in something.
    """
    there = known_students(root)
    for student in students:
        if student not in there:
            raise StepFailed(f"there is no student {student}{near_student(student, there)}")


def known_students(root: Path) -> set[str]:
    """Students who are in the gradebook or have handed in something."""
    there = {path.name for path in (root / "submitted").glob("*/")}
    if has_gradebook(root):
        with open_gradebook(root) as gradebook:
            there |= {student.id for student in gradebook.students}
    return there


def near_student(student: str, there: Iterable[str]) -> str:
    """End an error message: suggest a similar name, or the command to add a student."""
    near = get_close_matches(student, there, 1)
    return f"; did you mean {near[0]}?" if near else f": add one with `nbgrader db student add {shlex.quote(student)}`"


def grades(root: Path, lesson: str = "") -> list[StudentVerdict]:
    """All verdicts of the course, or of one lesson."""
    with open_gradebook(root) as gradebook:
        return [
            StudentVerdict(grade.student, grade.lesson, verdict)
            for grade in stored_grades(gradebook, lesson)
            for verdict in grade.verdicts.values()
        ]


def scores(root: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """(student, lesson) -> (points, maximum), with late penalties and manual grades."""
    with open_gradebook(root) as gradebook:
        graded = {(grade.student, grade.lesson) for grade in stored_grades(gradebook)}
        return {
            pair: (rounded(total_points(s)), s.max_score)
            for assignment in gradebook.assignments
            for s in gradebook.assignment_submissions(assignment.name)
            if (pair := (s.student.id, s.assignment.name)) in graded
        }


def ungraded(root: Path) -> list[tuple[str, str]]:
    """(student, lesson) of all submissions without a grade."""
    with open_gradebook(root) as gradebook:
        graded = {(grade.student, grade.lesson) for grade in stored_grades(gradebook)}
        known = {assignment.name for assignment in gradebook.assignments}
    folders = (root / "submitted").glob("*/*/")
    return sorted({(path.parent.name, path.name) for path in folders if path.name in known} - graded)


def stale_reasons(root: Path, lesson: str, student: str, config: Config | None = None) -> list[str]:
    """Why a submission has to be graded (`LessonFreshness`); empty if up to date."""
    config = config or configuration(root)
    return lesson_freshness(CourseDirectory(config=config), config, lesson, student).stale_reasons(student)


def needs_manual_grading(root: Path) -> set[tuple[str, str, str]]:
    """(student, lesson, exercise) of all open grades (`gradebook.open_grades`)."""
    with open_gradebook(root) as gradebook:
        return {(g.student.id, g.assignment.name, exercise_named(g.name)) for g in open_grades(gradebook)}


def is_registered(root: Path, lesson: str) -> bool:
    """Whether the gradebook has the lesson, without which it cannot be graded."""
    if not has_gradebook(root):
        return False
    with open_gradebook(root) as gradebook:
        return any(assignment.name == lesson for assignment in gradebook.assignments)


def has_gradebook(root: Path) -> bool:
    """Whether a gradebook exists.

    Check before opening one, since SQLite would create it.
    """
    url = make_url(CourseDirectory(config=configuration(root)).db_url)
    return url.get_backend_name() != "sqlite" or os.path.exists(url.database or "")


def open_gradebook(root: Path) -> Gradebook:
    """Open the course's gradebook, as a context manager. Raises StepFailed."""
    directory = CourseDirectory(config=configuration(root))
    try:
        return Gradebook(directory.db_url, directory.course_id)
    except (SQLAlchemyError, ImportError) as error:
        raise StepFailed(f"the gradebook cannot be opened: {' '.join(str(error).split())}") from error


def _run(converter: type[BaseConverter], config: Config, lesson: str, student: str) -> None:
    """Run a converter that writes the gradebook.

    Not thread-safe, because it changes the global warning filters.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # caused by nbgrader's autoflush
        _convert(converter, config, lesson, student)


def _convert(converter: type[BaseConverter], config: Config, lesson: str, student: str) -> None:
    config.CourseDirectory.assignment_id = lesson
    config.CourseDirectory.student_id = glob.escape(student)
    directory = CourseDirectory(config=config)
    instance = converter(coursedir=directory, config=config)
    instance.force = True
    instance.logfile = ""
    errors = _ErrorCollector()
    instance.log = logging.Logger("grading")  # noqa: LOG001  # a logger for this call's errors only
    instance.log.addHandler(errors)
    try:
        instance.start()
    except (NbGraderException, SystemExit) as error:
        raise StepFailed(f"{lesson}, {student}: {errors.reason or error}") from error


class _ErrorCollector(logging.Handler):
    """Collects nbgrader's errors, which would disturb the progress bar."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())

    @property
    def reason(self) -> str:
        """The errors in one line, without duplicates; only the last line of a traceback."""
        lines = [text.strip().splitlines()[-1] for text in self.messages if text.strip()]
        return " ".join(dict.fromkeys(line for line in lines if not line.startswith("Please see")))
