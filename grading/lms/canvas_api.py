"""Points into a Canvas assignment by its API: what would be sent is told first, what Canvas then has is read back.

    CANVAS_API_TOKEN   the teacher's own (Canvas: Account > Settings > New access token), from the environment alone

Does not cover: where the points come from (`run.records`), Canvas's gradebook file (`export`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from canvasapi import Canvas
from canvasapi.exceptions import CanvasException
from requests import RequestException

from ..errors import CanvasError
from .gradebook_csv import Person, person

TOKEN = "CANVAS_API_TOKEN"
BY = ("id", "sis_user_id", "login_id", "email")  # of a user, by which a class may be known
HERE = ("localhost", "127.0.0.1", "::1")
PATIENCE = 600.0  # seconds for Canvas to write what was sent
EXCUSED = "excused"


@dataclass(frozen=True)
class SentGrade:
    """One student's points. before: what Canvas has, "" for nothing; now: what it is to have, or EXCUSED."""

    student: str
    user: int
    name: str
    before: str
    now: str


@dataclass
class PushPlan:
    """What is to be sent. by: of users, that tells whose a grade is; same: who has their points already; unmatched: who
    is graded and not in Canvas's course; left: who is in it and has no points, by name."""

    assignment: str
    by: str
    to_send: list[SentGrade] = field(default_factory=list)
    same: int = 0
    unmatched: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class CanvasAssignment:
    """An assignment in a Canvas course. Raises CanvasError where it cannot be reached, or there is no one such."""

    def __init__(self, url: str, course: str, lesson: str, assignment: str = "") -> None:
        """url: of the Canvas server; course, assignment: their numbers, as in the address of their pages."""
        token = os.environ.get(TOKEN, "")
        if not token:
            raise CanvasError(
                f"no token: make one in Canvas (Account > Settings > New access token) and set {TOKEN} to it"
            )
        where = urlsplit(url)
        if where.scheme != "https" and where.hostname not in HERE:
            raise CanvasError(f"{url or 'no address'}: the token is sent to an address that begins with https:// only")
        with canvas_errors():
            self._course = Canvas(url, token).get_course(course)
            self._assignment = self._course.get_assignment(assignment) if assignment else self._named(lesson)

    def plan(
        self, people: Sequence[Person], points: Mapping[str, float], excused: set[str], most: float, by: str = ""
    ) -> PushPlan:
        """What is to be sent. points: by student, of at most `most`; excused: whom Canvas is to excuse. Raises
        CanvasError."""
        with canvas_errors():
            users = list(self._course.get_users(enrollment_type=["student"]))
            held = {one.user_id: self._shown(one) for one in self._assignment.get_submissions()}
        possible = getattr(self._assignment, "points_possible", None)
        if possible is not None and abs(float(possible) - most) > 1e-6:
            raise CanvasError(
                f"Canvas gives up to {possible:g} points for {self._assignment.name!r}, and the lesson has {most:g}: "
                "set the assignment's points there"
            )
        by = by or max(BY, key=lambda name: sum(_student(user, name, people) is not None for user in users))
        made, seen = PushPlan(self._assignment.name, by), set[str]()
        for user in users:
            student = _student(user, by, people)
            if student is None or (student not in points and student not in excused):
                made.left.append(str(user.name))
                continue
            now = EXCUSED if student in excused else _number(points[student])
            if student in seen:
                raise CanvasError(f"{student} is two people in Canvas by {by}: name another with --by {'|'.join(BY)}")
            seen.add(student)
            before = held.get(user.id, "")
            if before == now:
                made.same += 1
            else:
                made.to_send.append(SentGrade(student, int(user.id), str(user.name), before, now))
        made.unmatched = sorted((points.keys() | excused) - seen)
        return made

    def send(self, to_send: Sequence[SentGrade]) -> list[tuple[SentGrade, str]]:
        """Send it, wait until Canvas has written it, and read it back: what is otherwise there. Raises CanvasError."""
        data = {one.user: {"excuse": True} if one.now == EXCUSED else {"posted_grade": one.now} for one in to_send}
        with canvas_errors():
            progress = self._assignment.submissions_bulk_update(grade_data=data)
            begun = time.monotonic()
            while progress.workflow_state not in ("completed", "failed"):
                if time.monotonic() - begun > PATIENCE:
                    raise CanvasError("Canvas has not written it yet: look there, and push again")
                time.sleep(0.5)
                progress = progress.query()
            if progress.workflow_state == "failed":
                raise CanvasError(f"Canvas could not write it: {getattr(progress, 'message', '')}")
            held = {one.user_id: self._shown(one) for one in self._assignment.get_submissions()}
        return [(one, held.get(one.user, "")) for one in to_send if held.get(one.user, "") != one.now]

    def _named(self, lesson: str) -> Any:
        all_of_them = list(self._course.get_assignments())
        found = [one for one in all_of_them if _letters(lesson) in _letters(one.name)]
        if len(found) != 1:
            there = ", ".join(f"{one.id}: {one.name}" for one in all_of_them) or "none"
            raise CanvasError(
                f"{len(found)} assignments of the course are named after {lesson}. Name one by its number, with "
                f"--assignment; there are: {there}"
            )
        return found[0]

    def _shown(self, submission: Any) -> str:
        if getattr(submission, "excused", False):
            return EXCUSED
        score = getattr(submission, "score", None)
        return "" if score is None else _number(float(score))


def _student(user: Any, by: str, people: Sequence[Person]) -> str | None:
    """The one student whom a user's id of this kind names. Raises CanvasError where there are two."""
    keys = person(str(getattr(user, by, None) or "")).keys
    found = [one.student for one in people if keys & one.keys]
    if len(found) > 1:
        raise CanvasError(f"{next(iter(keys))} belongs to several in the gradebook: {', '.join(found)}")
    return found[0] if found else None


@contextmanager
def canvas_errors() -> Iterator[None]:
    """What Canvas or the network refuses, as a CanvasError that says so."""
    try:
        yield
    except (CanvasException, RequestException) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise CanvasError(f"Canvas: {why}") from error


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _number(value: float) -> str:
    return f"{round(value, 4):g}"
