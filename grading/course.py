"""A course, as one command sees it: its folder, settings, lessons, gradebook and students.

Each setting is read once, when first needed, so a process that runs for long makes a new `Course` for each round.
Does not cover: grading (`coordinator`), changing settings (`course_dir`), what rows mean (`gradebook`).
"""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from .course_dir.lessons import list_lessons
from .errors import StepFailed
from .notebooks.cells import exercise_named
from .points import rounded

if TYPE_CHECKING:  # imported where they are used: verbs that need only the folder start without nbgrader
    from nbgrader.api import Gradebook
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    from .course_dir.course_file import CourseFile
    from .grader.verdict import ExerciseVerdict


@dataclass(frozen=True)
class StudentVerdict:
    """One verdict, with its student and lesson."""

    student: str
    lesson: str
    verdict: ExerciseVerdict


class Course:
    """The course in the folder `root`. `unsandboxed`: grade without the sandbox."""

    def __init__(self, root: Path, *, unsandboxed: bool = False) -> None:
        self.root, self._unsandboxed = root, unsandboxed

    @cached_property
    def config(self) -> Config:
        """The settings of nbgrader's and our classes. To change one for a step, change a copy.

        Raises CourseFileError, and ConfigFileError for an invalid setting in nbgrader_config.py.
        """
        from .course_dir.course_config import load_config
        from .course_dir.known_settings import demand_known_settings

        config = load_config(self.root)
        demand_known_settings(config, self.root)
        config.CourseDirectory.root = str(self.root)
        if self._unsandboxed:
            config.JudgedExecute.unsandboxed = True
        return config

    @cached_property
    def toml(self) -> CourseFile:
        """The settings in course.toml. Raises CourseFileError."""
        from .course_dir.course_file import load_course_file

        return load_course_file(self.root)

    @property
    def sandboxed(self) -> bool:
        """Whether student code runs in the sandbox."""
        return not self.config.JudgedExecute.get("unsandboxed", False)

    @property
    def zone(self) -> ZoneInfo:
        """The course's time zone, or UTC."""
        from .course_dir.course_time import zone_of

        return zone_of(self.config)

    def directory(self, lesson: str = "", student: str = "") -> CourseDirectory:
        """nbgrader's object for this folder, for one lesson or submission if given."""
        from nbgrader.coursedir import CourseDirectory

        directory = CourseDirectory(config=self.config)
        if lesson:
            directory.assignment_id = lesson
        if student:
            directory.student_id = glob.escape(student)  # nbgrader reads it as a pattern
        return directory

    def lessons(self, named: Iterable[str] = (), *, ordinary: bool = True) -> list[str]:
        """The lessons, or those in `named`, and ordinary assignments unless told otherwise (`list_lessons`)."""
        return list_lessons(self.root, named, ordinary=ordinary)

    @property
    def has_gradebook(self) -> bool:
        """Whether a gradebook exists.

        Check before opening one, since SQLite would create it.
        """
        from sqlalchemy import make_url

        url = make_url(self.directory().db_url)
        return url.get_backend_name() != "sqlite" or os.path.exists(url.database or "")

    def gradebook(self) -> Gradebook:
        """Open the gradebook, as a context manager. Raises StepFailed.

        Each block opens it anew: a session that outlives one would not see what another process writes, and on SQLite
        could keep that process from writing.
        """
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import SQLAlchemyError

        directory = self.directory()
        try:
            return Gradebook(directory.db_url, directory.course_id)
        except (SQLAlchemyError, ImportError) as error:
            raise StepFailed(f"the gradebook cannot be opened: {' '.join(str(error).split())}") from error

    def is_registered(self, lesson: str) -> bool:
        """Whether the gradebook has the lesson, without which it cannot be graded."""
        if not self.has_gradebook:
            return False
        with self.gradebook() as gradebook:
            return any(assignment.name == lesson for assignment in gradebook.assignments)

    def students_in_submitted(self, lesson: str) -> list[str]:
        """Students with a folder for this lesson in submitted/."""
        return self._students_in("submitted", lesson)

    def students_in_autograded(self, lesson: str) -> list[str]:
        """Students with a folder for this lesson in autograded/."""
        return self._students_in("autograded", lesson)

    def _students_in(self, step: str, lesson: str) -> list[str]:
        return sorted(path.parent.name for path in (self.root / step).glob(f"*/{lesson}") if path.is_dir())

    def students_who_handed_in(self, lesson: str) -> set[str]:
        """Students who have handed in this lesson, by submitted/ or the gradebook."""
        students = set(self.students_in_submitted(lesson))
        if self.is_registered(lesson):
            with self.gradebook() as gradebook:
                students |= {submission.student.id for submission in gradebook.assignment_submissions(lesson)}
        return students

    def known_students(self) -> set[str]:
        """Students who are in the gradebook or have handed in something."""
        students = {path.name for path in (self.root / "submitted").glob("*/")}
        if self.has_gradebook:
            with self.gradebook() as gradebook:
                students |= {student.id for student in gradebook.students}
        return students

    def demand_students(self, students: Iterable[str]) -> None:
        """Raise StepFailed for a student who is not in `known_students`."""
        known = self.known_students()
        for student in students:
            if student not in known:
                raise StepFailed(f"there is no student {student}{near_student(student, known)}")

    def verdicts(self, lesson: str = "") -> list[StudentVerdict]:
        """All verdicts of the course, or of one lesson."""
        from .gradebook.store import stored_grades

        with self.gradebook() as gradebook:
            return [
                StudentVerdict(grade.student, grade.lesson, verdict)
                for grade in stored_grades(gradebook, lesson)
                for verdict in grade.verdicts.values()
            ]

    def scores(self) -> dict[tuple[str, str], tuple[float, float]]:
        """(student, lesson) -> (points, maximum), with late penalties and manual grades."""
        from .gradebook.open_grades import total_points
        from .gradebook.store import stored_grades

        with self.gradebook() as gradebook:
            graded = {(grade.student, grade.lesson) for grade in stored_grades(gradebook)}
            return {
                pair: (rounded(total_points(s)), s.max_score)
                for assignment in gradebook.assignments
                for s in gradebook.assignment_submissions(assignment.name)
                if (pair := (s.student.id, s.assignment.name)) in graded
            }

    def ungraded(self) -> list[tuple[str, str]]:
        """(student, lesson) of all submissions without a grade."""
        from .gradebook.store import stored_grades

        with self.gradebook() as gradebook:
            graded = {(grade.student, grade.lesson) for grade in stored_grades(gradebook)}
            known = {assignment.name for assignment in gradebook.assignments}
        folders = (self.root / "submitted").glob("*/*/")
        return sorted({(path.parent.name, path.name) for path in folders if path.name in known} - graded)

    def needs_manual_grading(self) -> set[tuple[str, str, str]]:
        """(student, lesson, exercise) of all open grades (`gradebook.open_grades`)."""
        from .gradebook.open_grades import open_grades

        with self.gradebook() as gradebook:
            return {(g.student.id, g.assignment.name, exercise_named(g.name)) for g in open_grades(gradebook)}


def near_student(student: str, known: Iterable[str]) -> str:
    """End an error message: suggest a similar name, or the command to add a student."""
    near = get_close_matches(student, known, 1)
    return f"; did you mean {near[0]}?" if near else f": add one with `nbgrader db student add {shlex.quote(student)}`"
