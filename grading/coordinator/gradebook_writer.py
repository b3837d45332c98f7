"""The only writer of a course's grades.

It prepares the new folder beside the old one, writes the grade in one transaction, and then swaps the folders. Signals
that stop grading wait until this is done. If the process is killed, the gradebook has the old grade or the new one. If
the folder does not match the grade, `LessonFreshness` reports the grade as out of date, and the next run grades it
again.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import IntegrityError, SAWarning
from traitlets.config import Config

from grading.errors import SubmissionNotGraded
from grading.gradebook.freshness import LessonFreshness
from grading.gradebook.indexes import have_indexes
from grading.gradebook.store import save, save_lateness
from grading.notebooks.submitted_file import unsafe_files
from grading.safe_text import one_line

from ..submitted import submitted_dir
from .submission import GradedNotebook
from .validate_result import check_marked_cells

UNFINISHED = ".unfinished-"  # prefix of folders in preparation
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")  # the exchange writes both when a student submits
STOPS = ("SIGINT", "SIGTERM", "SIGHUP")


class Writer:
    """Context manager that writes the grades of one lesson.

    Only one may run at a time (`gradebook.lock`).
    """

    def __init__(self, coursedir: CourseDirectory, config: Config, freshness: LessonFreshness) -> None:
        self.coursedir, self.freshness, self.lesson = coursedir, freshness, freshness.lesson
        self.converter = Autograde(coursedir=coursedir, config=config)
        self.place = Path(coursedir.format_path(coursedir.autograded_directory, ".", ".")).resolve()

    def __enter__(self) -> Writer:
        self.gradebook = Gradebook(self.coursedir.db_url, self.coursedir.course_id)
        have_indexes(self.gradebook)
        self.place.mkdir(parents=True, exist_ok=True)
        for left in self.place.glob(f"{UNFINISHED}*"):  # left by a killed process
            shutil.rmtree(left)
        return self

    def __exit__(self, *_: object) -> None:
        self.gradebook.close()

    def write(self, graded: GradedNotebook, made_of: Mapping[str, str]) -> None:
        """Write one grade and its folder.

        Raises OSError and SQLAlchemy's errors. Raises SubmissionNotGraded, and writes nothing, if the time of
        submission is not valid or the result is not this submission's grade.
        """
        check_marked_cells(graded.notebook, self.freshness.released)
        ids = {"assignment": self.lesson, "student": graded.student, "notebook": self.lesson}
        with self._folder(graded) as folder, defer_signals():
            self._save(ids, graded.notebook, graded.text, made_of)
            target = Path(self._path(self.coursedir.autograded_directory, graded.student))
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                os.rename(target, folder.parent / "before")
            os.rename(folder, target)

    def write_lateness(self, student: str, made_of: Mapping[str, str]) -> None:
        """Write the late penalty of an existing grade; raises as `write` does.

        If the same notebook was handed in again, the exchange releases feedback for the later submission.
        """
        ids = {"assignment": self.lesson, "student": student, "notebook": self.lesson}
        with defer_signals(), self._transaction():
            self._copy_exchange_files(student)
            self._ensure_rows(student, made_of["timestamp"])
            save_lateness(self.gradebook, ids, made_of, self.freshness.penalties)

    def _copy_exchange_files(self, student: str) -> None:
        handed_in = Path(self._path(self.coursedir.submitted_directory, student))
        graded = Path(self._path(self.coursedir.autograded_directory, student))
        unsafe = {path for path, _ in unsafe_files(handed_in)}
        for file in (handed_in / name for name in EXCHANGE_FILES):
            if file.is_file() and graded.is_dir() and not {str(file), str(handed_in)} & unsafe:
                beside = graded / f".{file.name}.new"
                shutil.copy(file, beside)
                os.replace(beside, graded / file.name)

    def _save(
        self, ids: Mapping[str, str], nb: NotebookNode, text: str, made_of: Mapping[str, str], tries: int = 3
    ) -> None:
        try:
            with self._transaction():
                self._ensure_rows(ids["student"], made_of["timestamp"])
                save(self.gradebook, ids, nb, text, made_of, self.freshness.penalties)
        except IntegrityError:  # another process has inserted the same rows, so they exist now
            if tries <= 1:
                raise
            self._save(ids, nb, text, made_of, tries - 1)

    @contextmanager
    def _folder(self, graded: GradedNotebook) -> Iterator[Path]:
        """Prepare a folder with the graded notebook and the files that go with it.

        These are the student's other files and the lesson's.
        """
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=self.place) as work:
            folder = Path(work) / "made"
            folder.mkdir()
            handed_in = self._path(self.coursedir.submitted_directory, graded.student)
            unsafe = {path for path, _ in unsafe_files(handed_in)}
            beside = [] if handed_in in unsafe else utils.find_all_files(handed_in, [*self.coursedir.ignore, "*.ipynb"])
            for file in beside:
                if file not in unsafe:
                    _copy(file, folder / os.path.relpath(file, handed_in))
            source = self._path(self.coursedir.source_directory, ".")
            for file in utils.find_all_files(source, [*self.coursedir.ignore, "*.ipynb"]):
                _copy(file, folder / os.path.relpath(file, source))
            (folder / f"{self.lesson}.ipynb").write_text(graded.text, encoding="utf-8")
            self._set_permissions(folder)
            yield folder

    def _set_permissions(self, folder: Path) -> None:
        """Set nbgrader's permissions on files and on group-shared folders."""
        for place, _, names in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(place, name), int(str(self.converter.permissions), 8))
            os.chmod(place, 0o2775 if self.coursedir.groupshared else 0o755)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Roll back what `save` has not committed; nbgrader's session begins it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # caused by nbgrader's autoflush
                yield
        finally:
            self.gradebook.db.rollback()  # no effect after a commit

    def _ensure_rows(self, student: str, handed_in_at: str) -> None:
        """Add missing rows like nbgrader's `add_submission`, in the same transaction."""
        try:
            submission = self.gradebook.find_submission(self.lesson, student)
        except MissingEntry:
            submission = self._add_rows(student)
        if handed_in_at:
            submission.timestamp = time_of(handed_in_at)

    def _add_rows(self, student: str) -> SubmittedAssignment:
        session = self.gradebook.db
        who = session.get(Student, student) or Student(id=student)
        submission = SubmittedAssignment(assignment=self.gradebook.find_assignment(self.lesson), student=who)
        for notebook in submission.assignment.notebooks:
            submitted = SubmittedNotebook(notebook=notebook, assignment=submission)
            for cell in [*notebook.grade_cells, *notebook.task_cells]:
                Grade(cell_id=cell.id, notebook=submitted)
            for cell in [*notebook.solution_cells, *notebook.task_cells]:
                Comment(cell_id=cell.id, notebook=submitted)
        session.add(submission)
        session.flush()
        return submission

    def _path(self, step: str, student: str) -> str:
        return str(self.coursedir.format_path(step, student, self.lesson))


@contextmanager
def defer_signals() -> Iterator[None]:
    """Defer signals that would stop this process until the block ends.

    Only the main thread receives signals.
    """
    received: list[int] = []
    before: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in STOPS if hasattr(signal, name)):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: Python cannot restore this handler
                    before[number] = signal.signal(number, lambda number, _: received.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in received:
            signal.raise_signal(number)


def time_of(text: str) -> datetime:
    """Parse the text of timestamp.txt, as UTC without a time zone. Raises SubmissionNotGraded."""
    if at := submitted_dir.time_of(text):
        return at.replace(tzinfo=None)
    example = "2026-11-21 08:00:00 UTC"
    raise SubmissionNotGraded(f"timestamp.txt: expected a time, got {one_line(text)}. Write one such as {example}")


def _copy(file: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
