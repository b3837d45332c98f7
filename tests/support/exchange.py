"""An exchange of nbgrader's in a temporary folder: what a teacher releases there, and what students do with it."""

from __future__ import annotations

import logging
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeFetchFeedback, ExchangeSubmit
from traitlets.config import Config

from grading.course import Course

from .course_builder import add_config

SILENT = logging.Logger("exchange", logging.CRITICAL)  # noqa: LOG001  # nbgrader reports each file


class Exchange:
    """The exchange of a course. place: a folder for it, and for what the students have at home."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root, self.place, self.shared = root, place, place / "exchange"
        self.course = str(CourseDirectory(config=Course(root).config).course_id)
        self.inbound, self.feedback = self.shared / self.course / "inbound", self.shared / self.course / "feedback"

    def open(self, lessons: list[str], *, check_owner: bool = False) -> Exchange:
        """Have the course use it, and release lessons there."""
        self.shared.mkdir(parents=True, exist_ok=True)
        self.shared.chmod(0o777)
        add_config(self.root, f"c.Exchange.root = {str(self.shared)!r}\nc.ExchangeCollect.check_owner = {check_owner}")
        for lesson in lessons:
            config = Course(self.root).config
            config.CourseDirectory.assignment_id = lesson
            self._run(ExchangeFactory(config=config).release_assignment, config)
        return self

    def fetch(self, student: str, lesson: str) -> Path:
        """Fetch a lesson with nbgrader's own step; returns the student's folder."""
        (self.place / student).mkdir(parents=True, exist_ok=True)
        self._run(ExchangeFetchAssignment, self._of(student, lesson))
        return self.place / student / lesson

    def set_up(self, student: str, folder: Path) -> None:
        """Write a student's nbgrader_config.py, in a folder where Jupyter looks."""
        folder.mkdir(parents=True)
        lines = f"c = get_config()\nc.Exchange.root = {str(self.shared)!r}\n"
        lines += f"c.Exchange.cache = {str(self.place / student / 'cache')!r}\n"
        lines += f"c.CourseDirectory.course_id = {self.course!r}\n"
        lines += (
            f"c.CourseDirectory.student_id = {student!r}\n"  # nbgrader would take the Unix account, which all share
        )
        (folder / "nbgrader_config.py").write_text(lines)

    def submit(self, student: str, lesson: str, notebook: NotebookNode) -> Path:
        """Hand in with nbgrader's own step; returns the new folder in the exchange."""
        return self.submit_files(student, lesson, {f"{lesson}.ipynb": nbformat.writes(notebook) + "\n"})

    def submit_files(self, student: str, lesson: str, files: dict[str, str]) -> Path:
        """Hand in a folder with these files, as `submit` does."""
        before = set(self.inbound.iterdir())
        for name, text in files.items():
            file = self.place / student / lesson / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self._run(ExchangeSubmit, self._of(student, lesson))
        (new,) = set(self.inbound.iterdir()) - before
        return new

    def fetched(self, student: str, lesson: str) -> list[str]:
        """The feedback pages that nbgrader fetches for all submissions of a student, in their order."""
        if not self.feedback.is_dir():
            return []
        self._run(ExchangeFetchFeedback, self._of(student, lesson))
        pages = (self.place / student / lesson / "feedback").glob("*/*.html")
        return [page.read_text(encoding="utf-8") for page in sorted(pages)]

    def _of(self, student: str, lesson: str) -> Config:
        config = Config()
        config.Exchange.root, config.Exchange.cache = str(self.shared), str(self.place / student / "cache")
        config.Exchange.assignment_dir = str(self.place / student)
        config.CourseDirectory.course_id, config.CourseDirectory.student_id = self.course, student
        config.CourseDirectory.assignment_id = lesson
        return config

    def _run(self, step: type, config: Config) -> None:
        directory = CourseDirectory(config=config)
        exchange_step = step(coursedir=directory, authenticator=Authenticator(config=config), config=config)
        exchange_step.log = SILENT
        exchange_step.start()
