"""Which grades of a lesson stand: those that were made, whole, of what they would be made of now.

Asked by whoever grades, before anything is done, and by whoever shows or exports grades.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Protocol

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from grading.judge.client import Job
from grading.notebooks.released import ReleasedNotebook

from .accommodations import accommodations
from .grade_inputs import bytes_of_graders, differences, digest_of_file, made_of, of_lesson
from .store import StoredGrade, stored_grades
from .view import load_released

NOT_YET = "it was not graded yet"
NO_FILE = "its graded notebook is not what was graded"


class WorkSource(Protocol):
    """What says how a lesson is graded: the preprocessor `JudgedExecute`, with the course's configuration."""

    config: Config

    @property
    def secret(self) -> str: ...

    def work(self, lesson: str, released: ReleasedNotebook | None = None) -> Job: ...


class LessonFreshness:
    """The grades of one lesson, or of one student in it, as the gradebook has them now, and all else but submissions
    as it is when it is first asked for. Raises MissingEntry where there is no such lesson."""

    def __init__(self, coursedir: CourseDirectory, execute: WorkSource, lesson: str, student: str = "") -> None:
        self.coursedir, self.execute, self.lesson = coursedir, execute, lesson
        self.penalties = AssignLatePenalties(config=execute.config)
        self.released = load_released(coursedir.db_url, lesson, lesson, coursedir)
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            self.grades: dict[str, StoredGrade] = {
                one.student: one for one in stored_grades(gradebook, lesson, student)
            }
            self._due = gradebook.find_assignment(lesson).duedate
            found = gradebook.db.query(Student.id, SubmittedAssignment.extension).select_from(SubmittedAssignment)
            named = found.join(Assignment).join(Student).filter(Assignment.name == lesson)
            granted = {one.student: one.more for one in accommodations(gradebook, lesson) if one.more is not None}
            self._extensions = {**dict(named.all()), **granted}

    def made_of(self, student: str) -> dict[str, str]:
        """Of what this student's grade would be made now (`content.made_of`)."""
        return made_of(self.of_lesson, self._file(self.coursedir.submitted_directory, student), self._late(student))

    def stale_reasons(self, student: str) -> list[str]:
        """Why this student's submission is to be graded, in words; none where its grade stands."""
        one = self.grades.get(student)
        if one is None:
            return [NOT_YET]
        missing = digest_of_file(self._file(self.coursedir.autograded_directory, student)) != one.digest
        return self.differences(one) + ([NO_FILE] if missing else [])

    def differences(self, one: StoredGrade) -> list[str]:
        """What is not as it was when this grade was made, in words."""
        before = dict(one.made_of)
        if before.get("graders") == self._bytes_of_graders:  # graded with version 0.1.0, and the same files
            before["graders"] = self.of_lesson["graders"]
        return differences(before, self.made_of(one.student))

    def job(self) -> Job:
        """What a judge of one submission is to do now."""
        return self.execute.work(self.lesson, self.released)

    @property
    def graders(self) -> str:
        return str(self._work.about["graders"])

    @cached_property
    def _work(self) -> Job:
        return self.job()

    @cached_property
    def _bytes_of_graders(self) -> str:
        return bytes_of_graders(Path(self.graders))

    @cached_property
    def of_lesson(self) -> dict[str, str]:
        """What all grades of the lesson are made of now (`grade_inputs.of_lesson`)."""
        return of_lesson(self._work)

    def _late(self, student: str) -> str:
        """What decides on a penalty, beside when the submission was handed in."""
        if self._due is None:
            return ""
        rules = self.penalties.plugin_class
        settings = [(one.__module__, one.__name__, self.penalties.config.get(one.__name__)) for one in rules.mro()[:-1]]
        return str((self._due, self._extensions.get(student), settings))

    def _file(self, step: str, student: str) -> Path:
        return Path(self.coursedir.format_path(step, student, self.lesson)) / f"{self.lesson}.ipynb"
