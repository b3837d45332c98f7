"""Decide which grades are up to date.

Such a grade is complete and was made from the current inputs.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Protocol

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from grading.judge.job import GradeRequest, Job
from grading.notebooks.released import ReleasedNotebook

from .accommodations import accommodations
from .grade_inputs import differences, digest_of_file, grade_inputs, lesson_inputs
from .store import StoredGrade, stored_grades
from .view import load_released

NOT_YET = "it was not graded yet"
NO_FILE = "its graded notebook was changed"


class JobSettings(Protocol):
    """The settings for grading a lesson.

    `JudgedExecute` with the course's configuration implements it.
    """

    config: Config

    @property
    def secret(self) -> str: ...

    def job(self, lesson: str, released: ReleasedNotebook) -> Job[GradeRequest]: ...


class LessonFreshness:
    """The freshness of the grades of one lesson, or of one student's grade.

    `notebook`: an nbgrader assignment may have several; a lesson has only the one of its own name.

    Reads the grades now, and each other input except submissions once, when first needed. Raises MissingEntry if the
    gradebook does not have the lesson.
    """

    def __init__(
        self, coursedir: CourseDirectory, execute: JobSettings, lesson: str, student: str = "", notebook: str = ""
    ) -> None:
        self.coursedir, self.execute, self.lesson, self.notebook = coursedir, execute, lesson, notebook or lesson
        self.penalties = AssignLatePenalties(config=execute.config)
        self.released = load_released(coursedir.db_url, lesson, self.notebook, coursedir)
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            self.grades: dict[str, StoredGrade] = {
                grade.student: grade
                for grade in stored_grades(gradebook, lesson, student)
                if grade.notebook == self.notebook
            }
            self._due = gradebook.find_assignment(lesson).duedate
            found = gradebook.db.query(Student.id, SubmittedAssignment.extension).select_from(SubmittedAssignment)
            stored = found.join(Assignment).join(Student).filter(Assignment.name == lesson)
            granted = {row.student: row.more for row in accommodations(gradebook, lesson) if row.more is not None}
            self._extensions = {**dict(stored.all()), **granted}

    def grade_inputs(self, student: str) -> dict[str, str]:
        """The inputs that a regrade would use now (`grade_inputs.grade_inputs`)."""
        handed_in = self._file(self.coursedir.submitted_directory, student)
        return grade_inputs(self.lesson_inputs, handed_in, self._late(student))

    def stale_reasons(self, student: str) -> list[str]:
        """Why a submission has to be graded, as phrases; empty if it is up to date."""
        stored = self.grades.get(student)
        if stored is None:
            return [NOT_YET]
        missing = digest_of_file(self._file(self.coursedir.autograded_directory, student)) != stored.digest
        return self.differences(stored) + ([NO_FILE] if missing else [])

    def differences(self, stored: StoredGrade) -> list[str]:
        """Which inputs have changed since this grade was made, as phrases."""
        return differences(stored.made_of, self.grade_inputs(stored.student))

    def job(self) -> Job[GradeRequest]:
        """A judge's job for one submission, with the current graders and settings."""
        return self.execute.job(self.lesson, self.released)

    @property
    def graders(self) -> str:
        return str(self._first_job.request.lesson.graders)

    @cached_property
    def _first_job(self) -> Job[GradeRequest]:
        return self.job()

    @cached_property
    def lesson_inputs(self) -> dict[str, str]:
        """The current inputs that the lesson's grades share (`grade_inputs.lesson_inputs`)."""
        return lesson_inputs(self._first_job)

    def _late(self, student: str) -> str:
        """Inputs of a late penalty, besides the time of submission."""
        if self._due is None:
            return ""
        rules = self.penalties.plugin_class
        policy = self.penalties.config
        settings = [(cls.__module__, cls.__name__, policy.get(cls.__name__) or None) for cls in rules.mro()[:-1]]
        return str((self._due, self._extensions.get(student), settings))

    def _file(self, step: str, student: str) -> Path:
        return Path(self.coursedir.format_path(step, student, self.lesson)) / f"{self.notebook}.ipynb"
