"""Run nbgrader's converters in this process for one assignment and student.

Does not cover: what the converters do (`nbgrader_plugins`), grading a class (`grade_class`).
"""

from __future__ import annotations

import copy
import glob
import logging
import warnings
from pathlib import Path

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning

from grading.errors import NotHandedIn, StepFailed

from ..course import Course
from ..course_dir.seeds import course_seed
from ..course_dir.student_ids import why_unfit
from ..nbgrader_plugins.execute import lesson_freshness
from ..submitted.submitted_dir import choose_file


def generate_assignment(course: Course, lesson: str) -> Path:
    """Run `nbgrader generate_assignment` for a built lesson.

    Returns the release's folder. Draws the course's secret seed if it has none yet.
    """
    _run(GenerateAssignment, course, lesson, ".")
    course_seed(course.root)
    return course.root / "release" / lesson


def autograde(course: Course, lesson: str, student: str, *, again: bool = False) -> bool:
    """Run `nbgrader autograde` for one submission; returns whether it ran.

    Does not run for an up-to-date grade unless `again` is set (`grading.gradebook.freshness`).
    """
    if why := why_unfit(student):
        raise StepFailed(f"{lesson}, {student}: {why}")
    try:
        choose_file(course.root / "submitted" / student / lesson, course.directory(), lesson)
    except NotHandedIn as error:
        raise StepFailed(f"{lesson}, {student}: {error}") from None
    if not again and not stale_reasons(course, lesson, student):
        return False
    _run(Autograde, course, lesson, student)
    return True


def generate_feedback(course: Course, lesson: str, student: str) -> None:
    """Run `nbgrader generate_feedback` for one submission.

    Always runs, since comments may have changed.
    """
    if why := why_unfit(student):
        raise StepFailed(f"{lesson}, {student}: {why}")
    _convert(GenerateFeedback, course, lesson, student)


def stale_reasons(course: Course, lesson: str, student: str) -> list[str]:
    """Why a submission has to be graded (`LessonFreshness`); empty if up to date."""
    return lesson_freshness(course.directory(), course.config, lesson, student).stale_reasons(student)


def _run(converter: type[BaseConverter], course: Course, lesson: str, student: str) -> None:
    """Run a converter that writes the gradebook.

    Not thread-safe, because it changes the global warning filters.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # caused by nbgrader's autoflush
        _convert(converter, course, lesson, student)


def _convert(converter: type[BaseConverter], course: Course, lesson: str, student: str) -> None:
    config = copy.deepcopy(course.config)
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
