"""Find open grades, which still need a person.

In an open grade, a person still has to give the points or has to look again. nbgrader's `needs_manual_grade` marks it.
`store.save` sets this for manually graded cells and for verdicts that need a person, `reopen` sets it for a request to
look again. Manual points, from the formgrader or the review page, clear it. The points of a submission with an open
grade are provisional.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from nbgrader.api import Base, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Column, DateTime, String, Text, and_, or_


class ReopenedRow(Base):
    """A request to look again at one cell of a submitted notebook.

    It counts only while the cell's grade is open.
    """

    __tablename__ = "attention_reopened"

    notebook_id = Column(String(32), primary_key=True)  # of the submitted notebook
    cell = Column(String(128), primary_key=True)  # grade_id
    because = Column(Text, nullable=False)
    reopened_at = Column(DateTime, nullable=False)


def is_open(grade: Grade) -> bool:
    """Whether a person still has to grade this cell, or to look at it again."""
    return bool(grade.needs_manual_grade) or (grade.manual_score is None and grade.auto_score is None)


def open_grades(gradebook: Gradebook) -> Iterator[Grade]:
    """All open grades of the course (`is_open`)."""
    no_points = and_(Grade.manual_score.is_(None), Grade.auto_score.is_(None))
    yield from gradebook.db.query(Grade).filter(or_(Grade.needs_manual_grade, no_points))


def has_open_grades(submission: SubmittedAssignment) -> bool:
    """Whether the points of a submission are provisional."""
    return any(is_open(grade) for notebook in submission.notebooks for grade in notebook.grades)


def total_points(submission: SubmittedAssignment | SubmittedNotebook) -> float:
    """The final points: of all cells, manual ones first, after the late penalty."""
    return max(0.0, float(submission.score) - float(submission.late_submission_penalty or 0.0))


def reopen(gradebook: Gradebook, submitted: SubmittedNotebook, grades: Sequence[Grade], because: str) -> None:
    """Mark cells of a submitted notebook as open, with the reason.

    The caller ends the transaction.
    """
    now = datetime.now(UTC).replace(tzinfo=None)  # nbgrader's times are naive UTC
    for grade in grades:
        grade.needs_manual_grade = True
        row = ReopenedRow(notebook_id=submitted.id, cell=grade.name, because=because, reopened_at=now)
        gradebook.db.merge(row)


def reopened(gradebook: Gradebook, notebooks: Sequence[SubmittedNotebook]) -> dict[tuple[str, str], str]:
    """Open requests to look again.

    Maps (id of the submitted notebook, grade_id) to the reason.
    """
    waiting = {(notebook.id, grade.name) for notebook in notebooks for grade in notebook.grades if is_open(grade)}
    ids = {notebook.id for notebook in notebooks}
    rows = gradebook.db.query(ReopenedRow)
    found = rows.filter(ReopenedRow.notebook_id.in_(ids)) if len(ids) == 1 else rows
    return {key: row.because for row in found if (key := (row.notebook_id, row.cell)) in waiting}


def forget_settled(gradebook: Gradebook, submitted: SubmittedNotebook) -> set[str]:
    """Delete the requests that a person has dealt with.

    Returns the cells of the other requests. Call it before new grades are written, since a grade that they open does
    not answer an old request. The caller ends the transaction.
    """
    waiting = {name for _, name in reopened(gradebook, [submitted])}
    for row in gradebook.db.query(ReopenedRow).filter(ReopenedRow.notebook_id == submitted.id):
        if row.cell not in waiting:
            gradebook.db.delete(row)
    return waiting
