"""Submissions in nbgrader's exchange: which of them wait for feedback; collect, hold or release one.

Covers nbgrader's own exchange, through the plugins that `nbgrader_config.py` names. Does not cover: grading, and the
order of the steps (`watch`).
"""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import find_owner, parse_utc
from traitlets.config import Config

from ..course_dir.lessons import list_lessons
from ..errors import NotHandedIn, StepFailed
from ..gradebook.store import times_of_grades
from ..lms.submitted_dir import choose_file
from ..nbgrader_plugins.exchange_collect import Collect, read_secret
from ..nbgrader_plugins.release_feedback import ReleaseFeedback, other_names, page_name
from ..safe_html import page_templates
from .nbgrader_api import configuration, has_gradebook, open_gradebook

LOG = logging.Logger("exchange", logging.CRITICAL + 1)  # noqa: LOG001  # discards nbgrader's messages, which name students


@dataclass(frozen=True)
class ExchangeSubmission:
    """A student's submission of a lesson in the exchange.

    folder  in inbound/ of the exchange
    at      when it was handed in, in UTC without a time zone
    page    the file in the exchange for its feedback
    again   whether feedback was released before; then it counts, and is not in submitted/, or has a newer grade
    """

    lesson: str
    student: str
    folder: Path
    at: datetime
    page: Path
    again: bool = False


class CourseExchange:
    """The exchange of one course, with its current configuration.

    Raises StepFailed if the course has no exchange that this module can use.
    """

    def __init__(self, root: Path) -> None:
        self._config: Config = configuration(root)
        self._root = root
        factory = ExchangeFactory(config=self._config)
        for plugin, ours in ((factory.collect, Collect), (factory.release_feedback, ReleaseFeedback)):
            if not issubclass(plugin, ours):
                name = f"{plugin.__module__}.{plugin.__name__}"
                raise StepFailed(f"this needs nbgrader's own exchange with the course's plugins, got {name}. {_REMEDY}")
        directory = self._directory()
        exchange = factory.exchange(coursedir=directory, config=self._config)
        if not directory.course_id:
            raise StepFailed("the course has no id in the exchange. Set c.CourseDirectory.course_id")
        if not Path(exchange.root).is_dir():
            raise StepFailed(
                f"nbgrader's exchange, {exchange.root}, does not exist. Set c.Exchange.root to its directory"
            )
        self.place = Path(exchange.root) / directory.course_id
        self._factory = factory

    def waiting(
        self, lessons: Collection[str] = (), best: Callable[[str, str], str] = lambda *_: ""
    ) -> list[ExchangeSubmission]:
        """Submissions to be graded or released, oldest first.

        These are latest ones without feedback. Of each student and lesson it is also the one that counts, if it is not
        in submitted/, or if its feedback is older than its grade.

        lessons  default: all lessons. Only lessons in the gradebook count.
        best     gives the page of a student's submission that counts even if it is not the latest, or ""
        """
        if not has_gradebook(self._root):
            return []
        with open_gradebook(self._root) as gradebook:
            graded_at = times_of_grades(gradebook)
            due = {assignment.name: assignment.duedate for assignment in gradebook.assignments}
        watched = due.keys() & set(list_lessons(self._root, lessons, ordinary=True))
        if not self._factory.Collect(self._directory(), None, config=self._config).before_duedate:
            due = dict.fromkeys(due)
        every: dict[tuple[str, str], list[ExchangeSubmission]] = {}
        for submission in sorted(self._submissions(watched), key=lambda submission: submission.at):
            every.setdefault((submission.student, submission.lesson), []).append(submission)
        found = []
        for key, submissions in every.items():
            limit = due[key[1]]
            in_time = [submission for submission in submissions if limit is None or submission.at <= limit]
            latest = (in_time or submissions)[-1]
            if not _modified(latest.page):
                found.append(latest)
            graded = graded_at[key].replace(tzinfo=UTC).timestamp() if key in graded_at else 0.0
            counting = best(*key)
            if counting or graded > _modified(latest.page):
                found += self._again(submissions, graded, counting)
        return sorted(found, key=lambda submission: submission.at)

    def _again(self, every: list[ExchangeSubmission], graded: float, counting: str) -> Iterator[ExchangeSubmission]:
        """That of a student's submissions which counts, if it is not in submitted/, or graded after its release."""
        secret = read_secret(self._submitted(every[0]))
        there = next((submission for submission in every if read_secret(submission.folder) == secret), None)
        counts = next((submission for submission in every if submission.page.name == counting), there)
        if counts and _modified(counts.page) and (counts is not there or graded > _modified(counts.page)):
            yield replace(counts, again=True)

    def collect(self, submission: ExchangeSubmission) -> bool:
        """Collect a submission; returns whether submitted/ has it now.

        A submission that belongs to another account than its name says is not collected unless
        `c.ExchangeCollect.check_owner` is off. Raises StepFailed, and what nbgrader raises.
        """
        directory, there = self._directory(submission), self._submitted(submission)
        if read_secret(there) != read_secret(submission.folder):
            collector = self._factory.Collect(directory, Authenticator(config=self._config), config=self._config)
            collector.log, collector.update = LOG, True
            if collector.check_owner and _owner(submission.folder) != submission.student:
                return False
            if submission.again:
                if not collector.kept_copy(submission.folder, submission.student):
                    raise StepFailed("not collected again: hand-ins/replaced has no copy of it")
                collector.exactly = submission.folder
            collector.start()
        if read_secret(there) != read_secret(submission.folder):
            return False
        try:
            choose_file(there, directory, submission.lesson)
        except NotHandedIn as why:
            template = page_templates(TEMPLATES).get_template("held_back.html.j2")
            self.hold(submission, NOTICE + template.render(lesson=submission.lesson, why=str(why)))
            raise StepFailed("not graded: no file counts as the notebook; the student's feedback page asks") from None
        return True

    def release(self, submission: ExchangeSubmission) -> bool:
        """Release a submission's feedback page; returns whether the exchange has it now.

        Raises what nbgrader raises.
        """
        release = self._factory.ReleaseFeedback(
            self._directory(submission), Authenticator(config=self._config), config=self._config
        )
        release.log = LOG
        before = _modified(submission.page)
        release.start()
        return _modified(submission.page) != before

    def hold(self, submission: ExchangeSubmission, notice: str) -> None:
        """Show the student this page, which begins with NOTICE, until there is feedback. Raises OSError."""
        secret, feedback = read_secret(submission.folder), submission.page.parent
        pages = [feedback / page_name(secret, name) for name in other_names(submission.folder, submission.lesson)]
        for page in [submission.page, *pages] if feedback.is_dir() else []:
            if not page.exists() or page.read_text(encoding="utf-8") != notice:
                beside = page.with_name(f"{page.stem}-tmp.html")
                beside.write_text(notice, encoding="utf-8")
                beside.chmod(0o644)
                os.replace(beside, page)

    def waits(self) -> Iterator[tuple[str, float]]:
        """Student and seconds from submission to released feedback, of each submission that has feedback."""
        lessons = list_lessons(self._root, ordinary=True)
        for submission in self._submissions(lessons):
            if released := _modified(submission.page):
                yield submission.student, released - submission.at.replace(tzinfo=UTC).timestamp()

    def _directory(self, submission: ExchangeSubmission | None = None) -> CourseDirectory:
        directory = CourseDirectory(config=self._config)
        if submission:
            directory.assignment_id, directory.student_id = submission.lesson, glob.escape(submission.student)
        return directory

    def _submitted(self, submission: ExchangeSubmission) -> Path:
        """Where a collected submission of this student and lesson is."""
        directory = self._directory(submission)
        return Path(directory.format_path(directory.submitted_directory, submission.student, submission.lesson))

    def _submissions(self, watched: Collection[str]) -> Iterator[ExchangeSubmission]:
        """All complete submissions of these lessons."""
        try:
            entries = sorted(os.scandir(self.place / "inbound"), key=lambda entry: entry.name)
        except FileNotFoundError:  # nothing has been released to students yet
            return
        for entry in entries:
            names = entry.name.rsplit("+", 3)  # as nbgrader does
            if len(names) < 3 or names[1] not in watched or not entry.is_dir(follow_symlinks=False):
                continue
            folder = Path(entry.path)
            try:
                at: datetime = parse_utc(names[2])
            except (ValueError, OverflowError, TypeError):
                continue
            if secret := read_secret(folder):
                page = self.place / "feedback" / page_name(secret, names[1])
                yield ExchangeSubmission(names[1], names[0], folder, at, page)


TEMPLATES = Path(__file__).parents[1] / "templates"
NOTICE = "<!-- held back: no feedback yet -->\n"  # begins a page that `hold` writes
SMALL = 10_000  # bytes; such a page is smaller
_REMEDY = "docs/hub.md shows the lines of nbgrader_config.py"


def _owner(folder: Path) -> str:
    try:
        return str(find_owner(folder))
    except KeyError:  # an id without a name
        return ""


def _modified(page: Path) -> float:
    """The time of last change in seconds since the epoch; 0 if there is no feedback."""
    try:
        about = page.stat()
        if about.st_size < SMALL and page.read_bytes().startswith(NOTICE.encode()):
            return 0.0
        return about.st_mtime
    except FileNotFoundError:
        return 0.0
