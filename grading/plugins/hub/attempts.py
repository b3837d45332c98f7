"""How many of a student's submissions of a lesson `grading watch` grades in an hour and in a day, and which one counts.

The record is a table in the course directory, so that a student cannot change it, and `grading forget` finds the
student's lines. It has the last day, and all of a lesson whose best submission counts. Their points are in the
gradebook and its history. Does not cover: which submissions there are (`exchange`), and the order of steps (`watch`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties

from course.models.write_file import PRIVATE, write_file
from grading.coordinator.gradebook_writer import time_of
from grading.course import Course
from grading.course_dir.course_time import after, shown
from grading.errors import SubmissionNotGraded
from grading.gradebook import late_rules
from grading.gradebook.accommodations import accommodations
from grading.gradebook.grade_inputs import ATTEMPT, alike
from grading.gradebook.history import past_grades
from grading.gradebook.store import current_grades
from grading.points import rounded
from grading.safe_html import page_templates
from grading.submitted.teacher_csv import to_bytes, to_cell

from .exchange import NOTICE, TEMPLATES, ExchangeSubmission
from .settings import BEST, in_words, load_attempts

FILE = ".grading-attempts.csv"
FIELDS = ("student", "lesson", "page", "at")
CURRENT = ""  # among pages: that of the current grade
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


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


@dataclass(frozen=True)
class Graded:
    """A submission's last grade.

    points     by exercise; it lacks those that only a person can give and has not given
    made_of    the grade's inputs
    due, came  in UTC without a time zone; `due` with an extension
    """

    points: Mapping[str, float]
    made_of: Mapping[str, str]
    due: datetime | None
    came: datetime | None


class AttemptLimits:
    """The limits of a course, and what was graded."""

    def __init__(self, course: Course, now: datetime | None = None) -> None:
        """Raises CourseFileError."""
        self._course, self._limits, self._now = course, load_attempts(course), now or datetime.now(UTC)
        self._zone, self._penalties = course.zone, AssignLatePenalties(config=course.config)
        self._grades: dict[str, dict[str, dict[str, Graded]]] = {}  # by lesson, student and page
        self._graded: dict[str, Attempt] = {}  # by page
        self._own: dict[tuple[str, str], list[Attempt]] = {}  # by student and lesson, oldest first
        for attempt in _read(course.root / FILE):
            if self._day_after(attempt.at) > self._now or self._best_counts(attempt.lesson):
                self._graded[attempt.page] = attempt
                self._own.setdefault((attempt.student, attempt.lesson), []).append(attempt)

    def held_until(self, submission: ExchangeSubmission) -> datetime | None:
        """When the limits allow to grade a submission; None for now.

        A submission that was graded before is never held back.
        """
        if submission.again or submission.page.name in self._graded:
            return None
        limits = self._limits.attempts_of(submission.lesson)
        own = [attempt.at for attempt in self._own.get((to_cell(submission.student), submission.lesson), ())]
        until = []
        for most, ends in (
            (limits.per_hour, [at + HOUR for at in own]),
            (limits.per_day, [self._day_after(at) for at in own]),
        ):
            counting = sorted(end for end in ends if end > self._now)
            if most and len(counting) >= most:
                until.append(counting[-most])
        return max(until, default=None)

    def notice(self, submission: ExchangeSubmission, until: datetime) -> str:
        """A page for the student, in place of the feedback, that says why there is none yet."""
        template = page_templates(TEMPLATES).get_template("held_back.html.j2")
        # up to the next minute, so that it is not too early
        at = shown((until + timedelta(minutes=1)).replace(second=0), self._zone)
        limits = in_words(self._limits.attempts_of(submission.lesson))
        return NOTICE + template.render(lesson=submission.lesson, limits=limits, at=at, left_out=(), why="")

    def best(self, student: str, lesson: str) -> str:
        """The page of the submission with the most points today, of equal ones the last; "" where the last one counts.

        Two are compared by what has points in both, so that an answer for which a person still has to give them neither
        helps nor harms. A submission whose points are unknown, or were given by other graders than the current grade's,
        comes first: it has to be graded again.
        """
        if not self._best_counts(lesson):
            return ""
        own = sorted(self._own.get((to_cell(student), lesson), ()), key=lambda attempt: attempt.at)
        if len(own) < 2:
            return own[0].page if own else ""
        if lesson not in self._grades:
            self._grades[lesson] = self._load_grades(lesson)
        grades = self._grades[lesson].get(student, {})
        if not (now := grades.get(CURRENT)):
            return ""  # the current grade is of no submission in the exchange, or of an earlier version
        best: Graded | None = None
        page = ""
        for attempt in own:
            grade = grades.get(attempt.page)
            if grade is None or not alike(grade.made_of, now.made_of):
                return attempt.page
            if best is None or self._at_least(student, grade, best):
                best, page = grade, attempt.page
        return page

    def _at_least(self, student: str, one: Graded, other: Graded) -> bool:
        """Whether a submission has no fewer points than another, by what has points in both."""
        names = one.points.keys() & other.points.keys()

        def counted(grade: Graded) -> float:
            whole = sum(grade.points[name] for name in names)
            return whole - (late_rules.penalty(self._penalties, student, whole, grade.due, grade.came) or 0.0)

        return rounded(counted(one) - counted(other)) >= 0

    def _load_grades(self, lesson: str) -> dict[str, dict[str, Graded]]:
        """The last grade of each submission in the exchange, by student and page; also the current one, by CURRENT."""
        found: dict[str, dict[str, Graded]] = {}
        with self._course.gradebook() as gradebook:
            more = {row.student: row.more for row in accommodations(gradebook, lesson) if row.more}
            day = gradebook.find_assignment(lesson).duedate
            due = {student: after(day, time, self._zone) if day else None for student, time in more.items()}
            past = ((one.student, one.standings, one.made_of) for one in past_grades(gradebook, lesson))
            current = list(current_grades(gradebook, lesson))
            for student, points, made_of in chain(past, current):
                if attempt := made_of.get(ATTEMPT):
                    own = {name: one.points for name, one in points.exercises.items() if one.points is not None}
                    grade = Graded(own, made_of, due.get(student, day), _time(made_of.get("timestamp", "")))
                    found.setdefault(student, {})[f"{attempt}.html"] = grade
            for student, _, made_of in current:
                if attempt := made_of.get(ATTEMPT):
                    found[student][CURRENT] = found[student][f"{attempt}.html"]
        return found

    def count(self, graded: Iterable[ExchangeSubmission]) -> None:
        """Record submissions as graded; one that is recorded counts once. Raises OSError."""
        found = dict(self._graded)
        for submission in graded:
            lesson, page = submission.lesson, submission.page.name
            limited = in_words(self._limits.attempts_of(lesson)) and not submission.again
            if page not in found and (limited or self._best_counts(lesson)):
                at = submission.at.replace(tzinfo=UTC) if submission.again else self._now
                found[page] = Attempt(to_cell(submission.student), lesson, page, at)
        if found != self._graded:
            self._graded = found
            _write(self._course.root / FILE, found.values())

    def _day_after(self, at: datetime) -> datetime:
        """The same hour of the next day, by the clocks of the course's time zone."""
        return after(at.replace(tzinfo=None), DAY, self._zone).replace(tzinfo=UTC)

    def _best_counts(self, lesson: str) -> bool:
        return self._limits.attempts_of(lesson).counts == BEST


def _time(text: str) -> datetime | None:
    """A time of submission; None if it is unknown."""
    try:
        return time_of(text) if text else None
    except SubmissionNotGraded:
        return None


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
    rows = [(attempt.student, attempt.lesson, attempt.page, attempt.at.isoformat()) for attempt in attempts]
    write_file(path, to_bytes(FIELDS, rows), PRIVATE)
