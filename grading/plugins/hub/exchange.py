"""Submissions in nbgrader's exchange: which of them wait for feedback; collect, hold or release one.

Covers nbgrader's own exchange, through the plugins that `nbgrader_config.py` names. Does not cover: grading, and the
order of the steps (`watch`).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory

from course.models.write_file import write_file
from grading.course import Course
from grading.errors import NotHandedIn, StepFailed
from grading.gradebook.store import times_of_grades
from grading.nbgrader_plugins.feedback_exporter import MOST_NAMED
from grading.safe_html import page_templates
from grading.safe_text import one_line
from grading.submitted.replaced import Replaced, remove_oldest
from grading.submitted.submitted_dir import choose_file, submitted_folder, time_of

from .exchange_collect import Collect
from .exchange_inbound import SECRET, Inbound, InboundList, latest, list_inbound, read_secret
from .release_feedback import ReleaseFeedback, other_names, page_name

MOST_KEPT, MOST_COPIES = 500 * 10**6, 500  # bytes and number of a student's replaced submissions
TEMPLATES = Path(__file__).parent / "templates"
LOG = logging.Logger("exchange", logging.CRITICAL + 1)  # noqa: LOG001  # discards nbgrader's messages, which name students


@dataclass(frozen=True)
class ExchangeSubmission:
    """A student's submission of a lesson in the exchange.

    folder  in inbound/ of the exchange
    at      when it was handed in, in UTC without a time zone
    page    the file in the exchange for its feedback
    again   whether feedback was released before; then it counts, and is not in submitted/, or has a newer grade
    entry   as it was listed
    """

    lesson: str
    student: str
    folder: Path
    at: datetime
    page: Path
    again: bool = False
    entry: Inbound | None = None


class CourseExchange:
    """The exchange of one course, with its current configuration.

    Raises StepFailed if the course has no exchange that this module can use.
    """

    def __init__(self, course: Course) -> None:
        self._course, self._config = course, course.config
        factory = ExchangeFactory(config=self._config)
        for step, ours in (("collect", Collect), ("release_feedback", ReleaseFeedback)):
            if not issubclass(plugin := getattr(factory, step), ours):
                raise StepFailed(
                    f"this needs nbgrader's own exchange with the course's plugins, got {_name(plugin)}. "
                    f'Set c.ExchangeFactory.{step} = "{_name(ours)}" in nbgrader_config.py'
                )
        directory = course.directory()
        exchange = factory.exchange(coursedir=directory, config=self._config)
        if not directory.course_id:
            raise StepFailed("the course has no id in the exchange. Set c.CourseDirectory.course_id")
        if not Path(exchange.root).is_dir():
            raise StepFailed(
                f"nbgrader's exchange, {exchange.root}, does not exist. Set c.Exchange.root to its directory"
            )
        self.place: Path = Path(exchange.root) / directory.course_id
        self.refused: dict[Path, str] = {}  # entries of the last listing that are no submissions, with the reason
        self._factory = factory

    def waiting(
        self, lessons: Collection[str] = (), best: Callable[[str, str], str] = lambda *_: ""
    ) -> list[ExchangeSubmission]:
        """Submissions to be graded or released, in the order in which the file system saw them arrive.

        These are latest ones without feedback. Of each student and lesson it is also the one that counts, if it is not
        in submitted/, or if its feedback is older than its grade.

        lessons  default: all lessons. Only lessons in the gradebook count.
        best     gives the page of a student's submission that counts even if it is not the latest, or ""
        """
        if not self._course.has_gradebook:
            return []
        with self._course.gradebook() as gradebook:
            graded_at = times_of_grades(gradebook)
            due = {assignment.name: assignment.duedate for assignment in gradebook.assignments}
        watched = due.keys() & set(self._course.lessons(lessons))
        if not self._factory.Collect(self._course.directory(), None, config=self._config).before_duedate:
            due = dict.fromkeys(due)
        listed = self._listed(watched)
        self.refused = listed.refused
        every: dict[tuple[str, str], list[Inbound]] = {}
        for entry in sorted(listed.found, key=lambda entry: entry.sent):
            if entry.secret:
                every.setdefault((entry.student, entry.lesson), []).append(entry)
            elif not entry.unfinished and not self._is_collected(entry):
                self.refused[entry.folder] = f"it has no {SECRET}, which gives its feedback page a name"
        found = []
        for key, entries in every.items():
            limit = due[key[1]]
            last = self._submission(latest(entries, limit and limit.replace(tzinfo=UTC)))
            if not _modified(last.page):
                found.append(last)
            graded = graded_at[key].replace(tzinfo=UTC).timestamp() if key in graded_at else 0.0
            counting = best(*key)
            if counting or graded > _modified(last.page):
                found += self._again(list(map(self._submission, entries)), graded, counting)
        return sorted(found, key=_arrival)

    def _is_collected(self, entry: Inbound) -> bool:
        """Whether submitted/ has this submission, or a later one; for those that have no secret."""
        handed_in = time_of(submitted_folder(self._course.directory(), entry.student, entry.lesson).stamp)
        return handed_in is not None and handed_in >= entry.at

    def _again(self, every: list[ExchangeSubmission], graded: float, counting: str) -> Iterator[ExchangeSubmission]:
        """That of a student's submissions which counts, if it is not in submitted/, or graded after its release."""
        secret = read_secret(self._submitted(every[0]))
        there = next((submission for submission in every if _secret(submission) == secret), None)
        counts = next((submission for submission in every if submission.page.name == counting), there)
        if counts and _modified(counts.page) and (counts is not there or graded > _modified(counts.page)):
            yield replace(counts, again=True)

    def collect(self, submission: ExchangeSubmission) -> bool:
        """Collect a submission; returns whether submitted/ has it now.

        What is collected is the submission that was listed, with its secret, or nothing. Raises StepFailed, and what
        nbgrader raises.
        """
        directory, there = self._directory(submission), self._submitted(submission)
        if read_secret(there) != _secret(submission):
            collector = self._factory.Collect(directory, Authenticator(config=self._config), config=self._config)
            collector.log, collector.update = LOG, True
            collector.exactly, collector.from_kept = submission.entry, submission.again
            try:
                collector.start()
            except StepFailed:  # which may name a student
                if submission.again:
                    raise
                return False
        if read_secret(there) != _secret(submission):
            return False
        if question := self._question(submission, there):
            self.hold(submission, question)
            raise StepFailed("not graded: no file counts as the notebook; the student's feedback page asks")
        return True

    def _question(self, submission: ExchangeSubmission, there: Path) -> str:
        """The page that asks the student for a notebook; "" if a file that was collected counts as it."""
        directory = self._directory(submission)
        folder, why = submitted_folder(directory, submission.student, submission.lesson), ""
        left_out = [f"{one_line(name)}: {why}" for name, why in folder.left_out.items() if name.endswith(".ipynb")]
        if not left_out or folder.digests():
            left_out = []
            try:
                choose_file(there, directory, submission.lesson)
                return ""
            except NotHandedIn as error:
                why = str(error)
        template = page_templates(TEMPLATES).get_template("held_back.html.j2")
        return NOTICE + template.render(lesson=submission.lesson, left_out=left_out[:MOST_NAMED], why=why)

    def limit_kept(self, submission: ExchangeSubmission, best: Callable[[str, str], str]) -> None:
        """Delete a student's oldest replaced copies over the quota, but none that counts. best: as in `waiting`."""

        seen = set[str]()  # each hand-in after the best one may leave another copy of that

        def counts(kept: Replaced) -> bool:
            secret = read_secret(kept.folder)
            page = self._page(secret, kept.lesson).name if secret else ""
            is_first = page not in seen
            seen.add(page)
            return bool(page) and is_first and page == best(kept.student, kept.lesson)

        with suppress(Exception):  # such as a full disk; the next submission tries again
            remove_oldest(self._course.root, submission.student, MOST_KEPT, MOST_COPIES, counts)

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
        if _modified(submission.page) == before:
            return False
        with suppress(OSError):  # by the clock that times grades, which may not be the exchange's
            os.utime(submission.page, ns=(time.time_ns(),) * 2)
        return True

    def hold(self, submission: ExchangeSubmission, notice: str) -> None:
        """Show the student this page, which begins with NOTICE, until there is feedback. Raises OSError."""
        feedback = submission.page.parent
        if not feedback.is_dir():
            self._factory.ReleaseFeedback(self._directory(submission), None, config=self._config).init_dest()
        names = other_names(submission.folder, submission.lesson)
        for page in [submission.page, *(feedback / page_name(_secret(submission), name) for name in names)]:
            if not page.exists() or page.read_text(encoding="utf-8") != notice:
                write_file(page, notice, 0o644)

    def waits(self) -> Iterator[tuple[str, float]]:
        """Student and seconds from submission to released feedback, of each submission that has feedback."""
        lessons = self._course.lessons()
        for submission in (self._submission(entry) for entry in self._listed(lessons).found if entry.secret):
            if released := _modified(submission.page):
                yield submission.student, released - submission.at.replace(tzinfo=UTC).timestamp()

    def _directory(self, submission: ExchangeSubmission) -> CourseDirectory:
        return self._course.directory(submission.lesson, submission.student)

    def _submitted(self, submission: ExchangeSubmission) -> Path:
        """Where a collected submission of this student and lesson is."""
        directory = self._directory(submission)
        return Path(directory.format_path(directory.submitted_directory, submission.student, submission.lesson))

    def _listed(self, lessons: Collection[str]) -> InboundList:
        inbound = self.place / "inbound"
        if not inbound.is_dir():  # nothing has been released to students yet
            return InboundList()
        check_owner = self._factory.Collect(self._course.directory(), None, config=self._config).check_owner
        return list_inbound(inbound, lessons, check_owner=check_owner)

    def _submission(self, entry: Inbound) -> ExchangeSubmission:
        page, at = self._page(entry.secret, entry.lesson), entry.at.replace(tzinfo=None)
        return ExchangeSubmission(entry.lesson, entry.student, entry.folder, at, page, entry=entry)

    def _page(self, secret: str, lesson: str) -> Path:
        return self.place / "feedback" / page_name(secret, lesson)


NOTICE = "<!-- held back: no feedback yet -->\n"  # begins a page that `hold` writes
SMALL = 10_000  # bytes; such a page is smaller


def _name(plugin: type) -> str:
    return f"{plugin.__module__}.{plugin.__name__}"


def _secret(submission: ExchangeSubmission) -> str:
    return submission.entry.secret if submission.entry else ""


def _arrival(submission: ExchangeSubmission) -> datetime:
    """By the file system's clock, which a student cannot set."""
    return submission.entry.changed if submission.entry else submission.at.replace(tzinfo=UTC)


def _modified(page: Path) -> float:
    """The time of last change in seconds since the epoch; 0 if there is no feedback."""
    try:
        about = page.stat()
        if about.st_size < SMALL and page.read_bytes().startswith(NOTICE.encode()):
            return 0.0
        return about.st_mtime
    except FileNotFoundError:
        return 0.0
