"""How many of a student's submissions of a lesson `grading watch` grades in an hour and in a day.

The record of the last day is a table in the course directory, so that a student cannot change it, and `grading forget`
finds the student's lines. Does not cover: which submissions there are (`exchange`), and the order of steps (`watch`).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from ..course_dir.course_file import Attempts, load_course_file
from ..lms.teacher_csv import to_bytes, to_cell
from ..plural import plural
from ..safe_html import page_templates
from .exchange import NOTICE, ExchangeSubmission

FILE = ".grading-watch-attempts.csv"
FIELDS = ("student", "lesson", "page", "at")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TEMPLATES = Path(__file__).parents[1] / "templates"


@dataclass(frozen=True)
class Attempt:
    """A submission that was graded.

    student  id, as a cell of a table
    page     name of the file of its feedback
    at       when it was graded
    """

    student: str
    lesson: str
    page: str
    at: datetime


class AttemptLimits:
    """The limits of a course, and what was graded in the last day."""

    def __init__(self, root: Path) -> None:
        """Raises CourseFileError."""
        self._root, self._course = root, load_course_file(root)
        self._now = datetime.now(UTC)
        self._graded = [one for one in _read(root / FILE) if one.at > self._now - DAY]

    def held_until(self, submission: ExchangeSubmission) -> datetime | None:
        """When the limits allow to grade a submission; None for now.

        A submission that was graded before is never held back.
        """
        if submission.again or submission.page.name in {one.page for one in self._graded}:
            return None
        limits = self._course.attempts_of(submission.lesson)
        key = (to_cell(submission.student), submission.lesson)
        own = [one.at for one in self._graded if (one.student, one.lesson) == key]
        until = []
        for most, span in ((limits.per_hour, HOUR), (limits.per_day, DAY)):
            recent = sorted(at for at in own if at > self._now - span)
            if most and len(recent) >= most:
                until.append(recent[-most] + span)
        return max(until, default=None)

    def notice(self, submission: ExchangeSubmission, until: datetime) -> str:
        """A page for the student, in place of the feedback, that says why there is none yet."""
        zone = ZoneInfo(self._course.timezone or "UTC")
        template = page_templates(TEMPLATES).get_template("held_back.html.j2")
        # up to the next minute, so that it is not too early
        at = f"{(until + timedelta(minutes=1)).astimezone(zone):%Y-%m-%d %H:%M %Z}"
        limits = in_words(self._course.attempts_of(submission.lesson))
        return NOTICE + template.render(lesson=submission.lesson, limits=limits, at=at)

    def count(self, graded: Iterable[ExchangeSubmission]) -> None:
        """Record submissions of limited lessons as graded; one that is recorded counts once. Raises OSError."""
        there = {one.page for one in self._graded}
        new = [
            Attempt(to_cell(one.student), one.lesson, one.page.name, datetime.now(UTC))
            for one in graded
            if not one.again and one.page.name not in there and in_words(self._course.attempts_of(one.lesson))
        ]
        if new:
            self._graded += new
            _write(self._root / FILE, self._graded)


def in_words(limits: Attempts) -> str:
    """These limits, such as "3 submissions per hour and 10 per day"; "" for none."""
    given = [(limits.per_hour, "hour"), (limits.per_day, "day")]
    words = [f"{most} per {span}" for most, span in given if most]
    if not words:
        return ""
    first = limits.per_hour or limits.per_day
    return " and ".join([f"{plural(first, 'submission')}{words[0].removeprefix(str(first))}", *words[1:]])


def _read(path: Path) -> list[Attempt]:
    """The record without its heading, and without lines that somebody has damaged."""
    found = []
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    for row in csv.reader(io.StringIO(text, newline="")):
        try:
            student, lesson, page, at = row
            found.append(Attempt(student, lesson, page, datetime.fromisoformat(at).astimezone(UTC)))
        except ValueError:
            continue
    return found


def _write(path: Path, attempts: Iterable[Attempt]) -> None:
    rows = [(one.student, one.lesson, one.page, one.at.isoformat()) for one in attempts]
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(to_bytes(FIELDS, rows))
    beside.chmod(0o600)
    os.replace(beside, path)
