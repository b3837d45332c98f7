"""Send points to a Canvas assignment through its API: plan, send, read back.

The access token is the teacher's own (Canvas: Account > Settings > New access token). It is read only from the
environment variable CANVAS_API_TOKEN.

Does not cover: where the points come from (`coordinator.class_data`), Canvas's gradebook file (`gradebook_csv`).
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

from grading.errors import CanvasError
from grading.plugins.lms.people import Person, person
from grading.points import points_text

TOKEN = "CANVAS_API_TOKEN"
BY = ("id", "sis_user_id", "login_id", "email")  # fields of a Canvas user that may hold the class's ids
HERE = ("localhost", "127.0.0.1", "::1")
PATIENCE = 600.0  # seconds that Canvas may take to write the points
EXCUSED = "excused"


@dataclass(frozen=True)
class SentGrade:
    """One student's points.

    before  the points in Canvas; "" for none
    now     the new points, or EXCUSED
    """

    student: str
    user: int
    name: str
    before: str
    now: str


@dataclass
class PushPlan:
    """The points to send.

    by         the field of Canvas users that has the class's ids
    same       how many students already have their points in Canvas
    unmatched  graded students who are not in the Canvas course
    left       names of people in the Canvas course who have no points here
    """

    assignment: str
    by: str
    to_send: list[SentGrade] = field(default_factory=list)
    same: int = 0
    unmatched: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class CanvasAssignment:
    """An assignment in a Canvas course.

    Raises CanvasError if it is not found or cannot be reached.
    """

    def __init__(self, url: str, course: str, lesson: str, assignment: str = "") -> None:
        """Find the assignment.

        url                 address of the Canvas server
        course, assignment  numbers from the addresses of their pages
        """
        token = os.environ.get(TOKEN, "")
        if not token:
            raise CanvasError(
                f"no token: make one in Canvas (Account > Settings > New access token) and set {TOKEN} to it"
            )
        where = urlsplit(url)
        if where.scheme != "https" and where.hostname not in HERE:
            raise CanvasError(f"{url or 'no address'}: the token is sent only to an address that begins with https://")
        with canvas_errors():
            self._course = Canvas(url, token).get_course(course)
            self._assignment = self._course.get_assignment(assignment) if assignment else self._find_by_lesson(lesson)

    def plan(
        self, people: Sequence[Person], points: Mapping[str, float], excused: set[str], most: float, by: str = ""
    ) -> PushPlan:
        """Plan which points to send.

        points   by student, up to `most`
        excused  students

        Raises CanvasError.
        """
        with canvas_errors():
            users = list(self._course.get_users(enrollment_type=["student"]))
            current = {row.user_id: self._to_text(row) for row in self._assignment.get_submissions()}
        possible = getattr(self._assignment, "points_possible", None)
        if possible is not None and abs(float(possible) - most) > 1e-6:
            raise CanvasError(
                f"the assignment {self._assignment.name!r} has {points_text(possible)} points in Canvas, but the "
                f"lesson has {points_text(most)}: change the assignment's points in Canvas"
            )
        by = by or max(BY, key=lambda name: sum(_student(user, name, people) is not None for user in users))
        plan, seen = PushPlan(self._assignment.name, by), set[str]()
        for user in users:
            student = _student(user, by, people)
            if student is None or (student not in points and student not in excused):
                plan.left.append(str(user.name))
                continue
            now = EXCUSED if student in excused else points_text(points[student])
            if student in seen:
                raise CanvasError(
                    f"two people in Canvas have the {by} of {student}: choose another field with --by {'|'.join(BY)}"
                )
            seen.add(student)
            before = current.get(user.id, "")
            if before == now:
                plan.same += 1
            else:
                plan.to_send.append(SentGrade(student, int(user.id), str(user.name), before, now))
        plan.unmatched = sorted((points.keys() | excused) - seen)
        return plan

    def send(self, to_send: Sequence[SentGrade]) -> list[tuple[SentGrade, str]]:
        """Send points, wait for Canvas, and read them back.

        Returns the grades that differ in Canvas afterwards. Raises CanvasError.
        """
        data = {new.user: {"excuse": True} if new.now == EXCUSED else {"posted_grade": new.now} for new in to_send}
        with canvas_errors():
            progress = self._assignment.submissions_bulk_update(grade_data=data)
            begun = time.monotonic()
            while progress.workflow_state not in ("completed", "failed"):
                if time.monotonic() - begun > PATIENCE:
                    raise CanvasError("Canvas is still writing the points: look at its gradebook, then push again")
                time.sleep(0.5)
                progress = progress.query()
            if progress.workflow_state == "failed":
                raise CanvasError(f"Canvas could not write the points: {getattr(progress, 'message', '')}")
            current = {row.user_id: self._to_text(row) for row in self._assignment.get_submissions()}
        return [(new, current.get(new.user, "")) for new in to_send if current.get(new.user, "") != new.now]

    def _find_by_lesson(self, lesson: str) -> Any:
        assignments = list(self._course.get_assignments())
        found = [assignment for assignment in assignments if _letters(lesson) in _letters(assignment.name)]
        if len(found) != 1:
            there = ", ".join(f"{assignment.id}: {assignment.name}" for assignment in assignments) or "none"
            raise CanvasError(
                f"expected one assignment in Canvas named after {lesson}, got {len(found)}. Choose one by its "
                f"number with --assignment; there are: {there}"
            )
        return found[0]

    def _to_text(self, submission: Any) -> str:
        if getattr(submission, "excused", False):
            return EXCUSED
        score = getattr(submission, "score", None)
        return "" if score is None else points_text(float(score))


def _student(user: Any, by: str, people: Sequence[Person]) -> str | None:
    """The student whose id is in the field `by` of a Canvas user.

    Raises CanvasError if there are two.
    """
    keys = person(str(getattr(user, by, None) or "")).keys
    found = [candidate.student for candidate in people if keys & candidate.keys]
    if len(found) > 1:
        raise CanvasError(f"several students in the gradebook have {next(iter(keys))}: {', '.join(found)}")
    return found[0] if found else None


@contextmanager
def canvas_errors() -> Iterator[None]:
    """Turn errors from Canvas and the network into CanvasError."""
    try:
        yield
    except (CanvasException, RequestException) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise CanvasError(f"Canvas: {why}") from error


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
