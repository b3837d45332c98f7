"""Record every grading step on the review page, so that it can be undone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import Base, Gradebook
from sqlalchemy import Boolean, Column, DateTime, Integer, String, Text

from .marks import Mark, from_json, to_json

MOST_LISTED = 100


class StepRow(Base):
    __tablename__ = "attention_review_step"

    id = Column(Integer, primary_key=True, autoincrement=True)
    lesson = Column(String(128), nullable=False, index=True)
    page = Column(String(64), nullable=False)
    by = Column(String(128), nullable=False)
    at = Column(DateTime, nullable=False)
    what = Column(Text, nullable=False)
    question = Column(Text, nullable=False)
    files = Column(Text, nullable=False)
    undone = Column(Boolean, nullable=False, default=False)


class ChangeRow(Base):
    """The change of one answer in a step. A table of its own, so that one person's rows can be found and deleted."""

    __tablename__ = "attention_review_change"

    step = Column(Integer, primary_key=True)
    notebook_id = Column(String(32), primary_key=True)  # of the submitted notebook
    before = Column(Text, nullable=False)
    after = Column(Text, nullable=False)


@dataclass(frozen=True)
class Step:
    """The changes of one step, with the state before it.

    question       key of the question; "" if the step concerns none
    before, after  marks by id of the submitted notebook
    files          path in the course -> its text before and after; None for no file
    """

    what: str
    question: str = ""
    before: Mapping[str, Mark] = field(default_factory=dict)
    after: Mapping[str, Mark] = field(default_factory=dict)
    files: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredStep:
    """A step in the gradebook.

    `page`: the browser page that made the step, which can undo its own steps by a key.
    """

    id: int
    page: str
    by: str
    at: datetime
    undone: bool
    step: Step


def add_step(gradebook: Gradebook, lesson: str, page: str, by: str, step: Step) -> int:
    """Store a step; returns its id. The caller ends the transaction."""
    now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    files = json.dumps({name: list(texts) for name, texts in step.files.items()})
    row = StepRow(
        lesson=lesson, page=page, by=by, at=now, what=step.what, question=step.question, files=files, undone=False
    )
    gradebook.db.add(row)
    gradebook.db.flush()
    for key, mark in step.after.items():
        texts = {"before": json.dumps(to_json(step.before[key])), "after": json.dumps(to_json(mark))}
        gradebook.db.add(ChangeRow(step=row.id, notebook_id=key, **texts))
    gradebook.db.flush()
    return int(row.id)


def last_steps(gradebook: Gradebook, lesson: str) -> Iterator[StoredStep]:
    """A lesson's last steps, newest first, without the marks that they changed."""
    rows = gradebook.db.query(StepRow).filter(StepRow.lesson == lesson).order_by(StepRow.id.desc())
    for row in rows.populate_existing().limit(MOST_LISTED):
        yield _stored(row, [])


def count_steps(gradebook: Gradebook, lesson: str) -> int:
    """The number of a lesson's steps, undone ones included."""
    return int(gradebook.db.query(StepRow).filter(StepRow.lesson == lesson).count())


def find_step(gradebook: Gradebook, lesson: str, number: int | None, page: str) -> StoredStep | None:
    """Find a step by its id, or a page's last one that is not undone."""
    rows = gradebook.db.query(StepRow).filter(StepRow.lesson == lesson, StepRow.undone.is_(False))
    rows = rows.filter(StepRow.page == page) if number is None else rows.filter(StepRow.id == number)
    row = rows.order_by(StepRow.id.desc()).populate_existing().first()
    if row is None:
        return None
    return _stored(row, gradebook.db.query(ChangeRow).filter(ChangeRow.step == row.id).populate_existing())


def mark_undone(gradebook: Gradebook, number: int) -> None:
    """The caller ends the transaction."""
    gradebook.db.query(StepRow).filter(StepRow.id == number).update({StepRow.undone: True})


def _stored(row: Any, changes: Iterable[Any]) -> StoredStep:
    before, after = dict[str, Mark](), dict[str, Mark]()
    for change in changes:
        before[change.notebook_id] = from_json(json.loads(change.before))
        after[change.notebook_id] = from_json(json.loads(change.after))
    files = {name: (texts[0], texts[1]) for name, texts in json.loads(row.files).items()}
    step = Step(row.what, row.question, before, after, files)
    return StoredStep(row.id, row.page, row.by, row.at, bool(row.undone), step)
