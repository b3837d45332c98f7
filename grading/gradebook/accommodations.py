"""Extensions and excuses, granted to one student for one lesson.

nbgrader stores an extension with a submission, so a student without a submission cannot have one. Our table has a row
per lesson and student; `apply` copies the extension to nbgrader's submission once there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

from nbgrader.api import Base, Gradebook, MissingEntry, SubmittedAssignment
from sqlalchemy import Boolean, Column, Float, String, Text

from ..course_dir.course_time import after

UTC = ZoneInfo("UTC")


class AccommodationRow(Base):
    __tablename__ = "attention_leave"

    lesson = Column(String(128), primary_key=True)
    student = Column(String(128), primary_key=True)
    seconds = Column(Float)
    excused = Column(Boolean, nullable=False, default=False)
    why = Column(Text, nullable=False, default="")


@dataclass(frozen=True)
class Accommodation:
    """One student's accommodation in one lesson.

    more     time after the due date, by the clocks of the course's time zone
    excused  whether the lesson does not count
    """

    lesson: str
    student: str
    more: timedelta | None = None
    excused: bool = False
    why: str = ""


def accommodations(gradebook: Gradebook, lesson: str = "") -> Iterator[Accommodation]:
    """All accommodations, or those of one lesson."""
    rows = gradebook.db.query(AccommodationRow).order_by(AccommodationRow.lesson, AccommodationRow.student)
    for row in rows.filter(AccommodationRow.lesson == lesson) if lesson else rows:
        more = None if row.seconds is None else timedelta(seconds=row.seconds)
        yield Accommodation(row.lesson, row.student, more, bool(row.excused), row.why)


def grant(gradebook: Gradebook, leave: Accommodation, zone: ZoneInfo = UTC) -> None:
    """Replace a student's accommodation; an empty one deletes it. Commits. `zone`: the course's time zone."""
    seconds = None if leave.more is None else leave.more.total_seconds()
    if leave.more is None and not leave.excused:
        gradebook.db.query(AccommodationRow).filter(
            AccommodationRow.lesson == leave.lesson, AccommodationRow.student == leave.student
        ).delete()
    else:
        row = AccommodationRow(
            lesson=leave.lesson, student=leave.student, seconds=seconds, excused=leave.excused, why=leave.why
        )
        gradebook.db.merge(row)
    with suppress(MissingEntry):  # no submission yet: `apply` sets it later
        _extend(gradebook.find_submission(leave.lesson, leave.student), leave.more, zone)
    gradebook.db.commit()


def apply(gradebook: Gradebook, lesson: str, student: str, zone: ZoneInfo) -> None:
    """Copy the extension to nbgrader's submission. The caller ends the transaction. `zone`: the course's time zone."""
    row = gradebook.db.get(AccommodationRow, (lesson, student))
    if row is not None and row.seconds is not None:
        _extend(gradebook.find_submission(lesson, student), timedelta(seconds=row.seconds), zone)


def _extend(submission: SubmittedAssignment, more: timedelta | None, zone: ZoneInfo) -> None:
    due = submission.assignment.duedate
    submission.extension = after(due, more, zone) - due if more and due else None
