"""Extensions and excuses: more time for one student, or a lesson that does not count, given before or after handing in.

nbgrader keeps an extension with a submission, so that who has handed in nothing can have none. They are kept here, by
lesson and student, and an extension goes into nbgrader's own place as soon as there is a submission.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from nbgrader.api import Base, Gradebook, MissingEntry
from sqlalchemy import Boolean, Column, Float, String, Text


class AccommodationRow(Base):
    __tablename__ = "attention_leave"

    lesson = Column(String(128), primary_key=True)
    student = Column(String(128), primary_key=True)
    seconds = Column(Float)
    excused = Column(Boolean, nullable=False, default=False)
    why = Column(Text, nullable=False, default="")


@dataclass(frozen=True)
class Accommodation:
    """What one student was granted in one lesson. more: time after the due date; excused: it does not count."""

    lesson: str
    student: str
    more: timedelta | None = None
    excused: bool = False
    why: str = ""


def accommodations(gradebook: Gradebook, lesson: str = "") -> Iterator[Accommodation]:
    """All that was granted, or what was in one lesson."""
    rows = gradebook.db.query(AccommodationRow).order_by(AccommodationRow.lesson, AccommodationRow.student)
    for row in rows.filter(AccommodationRow.lesson == lesson) if lesson else rows:
        more = None if row.seconds is None else timedelta(seconds=row.seconds)
        yield Accommodation(row.lesson, row.student, more, bool(row.excused), row.why)


def grant(gradebook: Gradebook, leave: Accommodation) -> None:
    """Write what a student is granted, in the place of what was; nothing: it is taken back. In one transaction."""
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
    with suppress(MissingEntry):  # nothing is handed in: `apply` does it
        gradebook.find_submission(leave.lesson, leave.student).extension = leave.more
    gradebook.db.commit()


def apply(gradebook: Gradebook, lesson: str, student: str) -> None:
    """Put the extension where nbgrader looks for it. The caller ends the transaction."""
    row = gradebook.db.get(AccommodationRow, (lesson, student))
    if row is not None and row.seconds is not None:
        gradebook.find_submission(lesson, student).extension = timedelta(seconds=row.seconds)
