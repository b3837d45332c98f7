"""A person's marks belong to the text of an answer.

A new text has no points, rubric items or comment of an earlier one. If the earlier text comes back, such as with the
best submission, it has its marks again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nbgrader.api import Base, Gradebook, SubmittedNotebook
from sqlalchemy import Boolean, Column, DateTime, Float, String, Text

Marks = dict[str, Any]
REVIEWED = ("items", "adjust", "points", "alone", "by")  # columns of MarkRow, besides `at`


class MarkRow(Base):
    """The rubric items of an answer; without a foreign key, like `store.GradeRow`."""

    __tablename__ = "attention_review"

    notebook_id = Column(String(32), primary_key=True)  # of the submitted notebook
    cell = Column(String(128), primary_key=True)  # name of the cell with the points
    items = Column(Text, nullable=False)
    adjust = Column(Float, nullable=False)
    points = Column(Float)  # as written to nbgrader's columns; None: not graded
    alone = Column(Boolean, nullable=False)
    by = Column(String(128), nullable=False)
    at = Column(DateTime, nullable=False)


class KeptMarksRow(Base):
    """The marks of an answer that a submission of the same student has replaced."""

    __tablename__ = "attention_kept_marks"

    notebook_id = Column(String(32), primary_key=True)  # of the submitted notebook
    cell = Column(String(128), primary_key=True)  # name of a graded cell, or of one with a comment
    answer = Column(String(64), primary_key=True)  # digest of its text
    marks = Column(Text, nullable=False)


def chosen_items(gradebook: Gradebook, notebook: str) -> dict[str, list[str]]:
    """Ids of the rubric items that apply to each graded answer, by name of the cell."""
    rows = gradebook.db.query(MarkRow).filter(MarkRow.notebook_id == notebook, MarkRow.points.is_not(None))
    return {row.cell: json.loads(row.items) for row in rows}


def kept_marks(gradebook: Gradebook, notebook: str, answers: Mapping[str, str]) -> dict[str, Marks]:
    """The marks that these answers had before, by cell; empty for none. `answers`: digest by cell."""
    rows = {cell: gradebook.db.get(KeptMarksRow, (notebook, cell, answer)) for cell, answer in answers.items()}
    return {cell: json.loads(row.marks) if row else {} for cell, row in rows.items()}


def replace_marks(
    gradebook: Gradebook, submitted: SubmittedNotebook, before: Mapping[str, str], now: Mapping[str, str]
) -> dict[str, Marks]:
    """Keep the marks of replaced answers, and give new ones what they had before.

    before  digests of the answers that have changed, by cell
    now     digests of all answers

    Returns `kept_marks` of the changed ones. The caller ends the transaction.
    """
    db, found = gradebook.db, kept_marks(gradebook, submitted.id, {cell: now[cell] for cell in before})
    grades, comments = ({row.name: row for row in rows} for rows in (submitted.grades, submitted.comments))
    for cell, marks in found.items():
        grade, comment, reviewed = grades.get(cell), comments.get(cell), db.get(MarkRow, (submitted.id, cell))
        old: Marks = {}
        if comment is not None:
            old["comment"], comment.manual_comment = comment.manual_comment, marks.get("comment")
        if grade is not None:
            old |= {"manual": grade.manual_score, "extra": grade.extra_credit}
            grade.manual_score, grade.extra_credit = marks.get("manual"), marks.get("extra")
        if reviewed is not None:
            old["review"] = {name: getattr(reviewed, name) for name in REVIEWED} | {"at": reviewed.at.isoformat()}
            db.delete(reviewed)
        if any(value is not None for value in old.values()):
            if grade is not None:
                old |= {"auto": grade.auto_score, "waiting": bool(grade.needs_manual_grade)}
            db.merge(KeptMarksRow(notebook_id=submitted.id, cell=cell, answer=before[cell], marks=json.dumps(old)))
        db.flush()
        if marks:
            db.delete(db.get(KeptMarksRow, (submitted.id, cell, now[cell])))
        if review := marks.get("review"):
            at = datetime.fromisoformat(review["at"])
            db.add(MarkRow(notebook_id=submitted.id, cell=cell, **{**review, "at": at}))
    db.flush()
    return found
