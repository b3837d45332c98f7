"""nbgrader's own converters, under the course's own configuration, in this process.

Covers: loading `nbgrader_config.py`, one converter over one assignment and one student, names of what was handed in.
Does not cover: what the converters do (`nbgrader_plugins`), many at once.
"""

from __future__ import annotations

import glob
import logging
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Grade, Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import make_url
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grading.errors import StepFailed
from grading.notebooks.cells import exercise_named

from ..course_dir.paths import CONFIG
from ..course_dir.seeds import course_seed
from ..gradebook.store import stored_grades
from ..grader.verdict import ExerciseVerdict
from ..nbgrader_plugins.execute import lesson_freshness


@dataclass(frozen=True)
class StudentVerdict:
    """One verdict with whose it is."""

    student: str
    lesson: str
    verdict: ExerciseVerdict


def configuration(root: Path, *, unsandboxed: bool = False) -> Config:
    """The course's configuration, whatever the directory it is asked from; `unsandboxed` grades without a sandbox."""
    config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    if unsandboxed:
        config.JudgedExecute.unsandboxed = True
    return config


def release(root: Path, lesson: str, into: Path | None = None) -> Path:
    """nbgrader generate_assignment for one lesson that has been built; returns the folder of the release.

    into: another course directory (made if need be) to write to, which then gets a gradebook of its own.
    The course draws its secret seed, if it has none yet.
    """
    target = into or root
    config = configuration(root)
    config.CourseDirectory.root, config.CourseDirectory.source_directory = str(target), str(root / "source")
    _run(GenerateAssignment, config, lesson, ".")
    course_seed(target)
    return target / "release" / lesson


def autograde(root: Path, lesson: str, student: str, *, again: bool = False, config: Config | None = None) -> bool:
    """nbgrader autograde for one submission; returns whether it was done.

    Without `again`, a grade that stands is left as it is (`grading.gradebook.freshness`).
    """
    folder = root / "submitted" / student / lesson
    notebook = folder / f"{lesson}.ipynb"
    if not os.path.lexists(notebook):
        there = ", ".join(sorted(path.name for path in folder.glob("*"))) or "nothing"
        raise StepFailed(f"{lesson}, {student}: no {lesson}.ipynb was handed in, but {there}")
    config = config or configuration(root)
    if not again and not stale_reasons(root, lesson, student, config):
        return False
    _run(Autograde, config, lesson, student)
    return True


def feedback(root: Path, lesson: str, student: str) -> None:
    """nbgrader generate_feedback for one graded submission, always anew: comments and grades may have changed."""
    _convert(GenerateFeedback, configuration(root), lesson, student)


def handed_in(root: Path, lesson: str, step: str = "submitted") -> list[str]:
    """Names of the students who have this lesson in submitted/, or after another step."""
    return sorted(path.parent.name for path in (root / step).glob(f"*/{lesson}") if path.is_dir())


def grades(root: Path, lesson: str = "") -> list[StudentVerdict]:
    """Every grade of the course, or of one lesson, with what was found."""
    with open_gradebook(root) as gradebook:
        return [
            StudentVerdict(one.student, one.lesson, verdict)
            for one in stored_grades(gradebook, lesson)
            for verdict in one.verdicts.values()
        ]


def scores(root: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """(student, lesson) -> (points, maximum) of all that is graded, late penalties and manual grades in."""
    with open_gradebook(root) as gradebook:
        graded = {(one.student, one.lesson) for one in stored_grades(gradebook)}
        return {
            whose: (s.score - s.late_submission_penalty, s.max_score)
            for assignment in gradebook.assignments
            for s in gradebook.assignment_submissions(assignment.name)
            if (whose := (s.student.id, s.assignment.name)) in graded
        }


def ungraded(root: Path) -> list[tuple[str, str]]:
    """(student, lesson) of all that was handed in and has no grade."""
    with open_gradebook(root) as gradebook:
        graded = {(one.student, one.lesson) for one in stored_grades(gradebook)}
        known = {assignment.name for assignment in gradebook.assignments}
    folders = (root / "submitted").glob("*/*/")
    return sorted({(path.parent.name, path.name) for path in folders if path.name in known} - graded)


def stale_reasons(root: Path, lesson: str, student: str, config: Config | None = None) -> list[str]:
    """Why a submission is to be graded, in words; none where its grade stands (`nbgrader_plugins.standing`)."""
    config = config or configuration(root)
    return lesson_freshness(CourseDirectory(config=config), config, lesson, student).stale_reasons(student)


def needs_manual_grading(root: Path) -> set[tuple[str, str, str]]:
    """(student, lesson, exercise) of all that a person is still to grade."""
    with open_gradebook(root) as gradebook:
        grades = gradebook.db.query(Grade).filter(Grade.needs_manual_grade)
        return {(g.student.id, g.assignment.name, exercise_named(g.name)) for g in grades}


def is_registered(root: Path, lesson: str) -> bool:
    """Whether the gradebook has the lesson, without which nothing of it can be graded."""
    url = make_url(CourseDirectory(config=configuration(root)).db_url)
    if url.get_backend_name() == "sqlite" and not os.path.exists(url.database or ""):
        return False  # none is made by asking
    with open_gradebook(root) as gradebook:
        return any(assignment.name == lesson for assignment in gradebook.assignments)


def open_gradebook(root: Path) -> Gradebook:
    """The course's gradebook, to be used as a context manager. Raises StepFailed."""
    directory = CourseDirectory(config=configuration(root))
    try:
        return Gradebook(directory.db_url, directory.course_id)
    except (SQLAlchemyError, ImportError) as error:
        raise StepFailed(f"the gradebook cannot be opened: {' '.join(str(error).split())}") from error


def _run(converter: type[BaseConverter], config: Config, lesson: str, student: str) -> None:
    """Where nbgrader writes the gradebook; by one thread at a time, since what warnings are shown is the process's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own, about its autoflush
        _convert(converter, config, lesson, student)


def _convert(converter: type[BaseConverter], config: Config, lesson: str, student: str) -> None:
    config.CourseDirectory.assignment_id = lesson
    config.CourseDirectory.student_id = glob.escape(student)
    directory = CourseDirectory(config=config)
    made = converter(coursedir=directory, config=config)
    made.force = True
    made.logfile = ""
    heard = _Heard()
    made.log = logging.Logger("grading")  # noqa: LOG001  # one for this call alone: no other's errors are heard
    made.log.addHandler(heard)
    try:
        made.start()
    except (NbGraderException, SystemExit) as error:
        raise StepFailed(f"{lesson}, {student}: {heard.reason or error}") from error


class _Heard(logging.Handler):
    """Keeps nbgrader's errors; the console belongs to the progress bar."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())

    @property
    def reason(self) -> str:
        """What was said, without what stands around it: of a traceback its last line, and everything once."""
        lines = [said.strip().splitlines()[-1] for said in self.said if said.strip()]
        return " ".join(dict.fromkeys(line for line in lines if not line.startswith("Please see")))
