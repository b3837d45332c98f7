"""How many of a student's submissions of a lesson `grading watch` grades in an hour and in a day, and which one counts.

The record is a table in the course directory, so that a student cannot change it, and `grading forget` finds the
student's lines. It has the last day, and all of a lesson whose best submission counts. Does not cover: which
submissions there are (`exchange`), and the order of steps (`watch`).
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
from .exchange import NOTICE, TEMPLATES, ExchangeSubmission
from .nbgrader_api import scores

FILE = ".grading-attempts.csv"
FIELDS = ("student", "lesson", "page", "at", "points")
BEST = "best"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Attempt:
    """A submission that was graded.

    student  id, as a cell of a table
    page     name of the file of its feedback
    at       when it was graded
    points   with a late penalty
    """

    student: str
    lesson: str
    page: str
    at: datetime
    points: float = 0.0


class AttemptLimits:
    """The limits of a course, and what was graded."""

    def __init__(self, root: Path, now: datetime | None = None) -> None:
        """Raises CourseFileError."""
        self._root, self._course = root, load_course_file(root)
        self._now = now or datetime.now(UTC)
        self._graded: dict[str, Attempt] = {}  # by page
        self._own: dict[tuple[str, str], list[Attempt]] = {}  # by student and lesson, oldest first
        for attempt in _read(root / FILE):
            if attempt.at > self._now - DAY or self._best_counts(attempt.lesson):
                self._graded[attempt.page] = attempt
                self._own.setdefault((attempt.student, attempt.lesson), []).append(attempt)

    def held_until(self, submission: ExchangeSubmission) -> datetime | None:
        """When the limits allow to grade a submission; None for now.

        A submission that was graded before is never held back.
        """
        if submission.again or submission.page.name in self._graded:
            return None
        limits = self._course.attempts_of(submission.lesson)
        own = [attempt.at for attempt in self._own.get((to_cell(submission.student), submission.lesson), ())]
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

    def best(self, student: str, lesson: str) -> str:
        """The page of the submission with the most points, of equal ones the last; "" where the last one counts."""
        if not self._best_counts(lesson):
            return ""
        own = self._own.get((to_cell(student), lesson), [])
        return max(reversed(own), key=lambda attempt: attempt.points).page if own else ""

    def count(self, graded: Iterable[ExchangeSubmission]) -> None:
        """Record submissions as graded, with their points; one that is recorded counts once. Raises OSError."""
        found, points = dict(self._graded), dict[tuple[str, str], tuple[float, float]]()
        for submission in graded:
            student, lesson, page = submission.student, submission.lesson, submission.page.name
            before, earned = found.get(page), 0.0
            if self._best_counts(lesson):
                points = points or scores(self._root)
                earned = points[student, lesson][0]
            elif before or submission.again or not in_words(self._course.attempts_of(lesson)):
                continue
            at = before.at if before else submission.at.replace(tzinfo=UTC) if submission.again else self._now
            found[page] = Attempt(to_cell(student), lesson, page, at, earned)
        if found != self._graded:
            self._graded = found
            _write(self._root / FILE, found.values())

    def _best_counts(self, lesson: str) -> bool:
        return self._course.attempts_of(lesson).counts == BEST


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
            student, lesson, page, at, points = row
            found.append(Attempt(student, lesson, page, datetime.fromisoformat(at).astimezone(UTC), float(points)))
        except ValueError:
            continue
    return found


def _write(path: Path, attempts: Iterable[Attempt]) -> None:
    rows = [
        (attempt.student, attempt.lesson, attempt.page, attempt.at.isoformat(), f"{attempt.points:g}")
        for attempt in attempts
    ]
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(to_bytes(FIELDS, rows))
    beside.chmod(0o600)
    os.replace(beside, path)
