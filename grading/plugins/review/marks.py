"""A person's marks of answers: points, comments and rubric items.

Two people, or a person and the formgrader, may write at once. So each write says which state it has seen; if another
is there, nothing is written (`Conflict`). The rows of the submissions are locked during that, as grading locks them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import Comment, Grade, Gradebook, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import and_, false, select, update

from grading.errors import Conflict
from grading.exercises.rubric import Rubric
from grading.gradebook.answer_marks import MarkRow
from grading.gradebook.store import GradeRow, apply_late_penalty
from grading.points import rounded


@dataclass(frozen=True)
class Mark:
    """An answer's state in the gradebook.

    items, adjust  the rubric items that apply, and points added by hand; if the points were given elsewhere, `adjust`
                   is the part that the items do not explain
    written        the points as the review page wrote them; None if it wrote none
    alone          whether the answer was taken out of its group
    by, at         who wrote it on the review page, and when; "" if nobody did
    auto           the grader's own points
    manual, extra  points by hand and extra credit: nbgrader's columns
    waiting        whether a person still has to grade it, or to look again (`open_grades`)
    """

    items: tuple[str, ...] = ()
    adjust: float = 0.0
    written: float | None = None
    alone: bool = False
    by: str = ""
    at: str = ""
    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    waiting: bool = True
    comment: str = ""

    @property
    def points(self) -> float | None:
        """The points that a person gave; None if nobody did."""
        return None if self.manual is None else self.manual + (self.extra or 0.0)

    @property
    def from_elsewhere(self) -> bool:
        """Whether the points differ from those that the review page wrote.

        They do, for example, after a change in the formgrader.
        """
        return self.points is not None and (self.written is None or rounded(self.points - self.written) != 0)

    @property
    def stamp(self) -> str:
        """A hash of everything that a person may have changed."""
        follows = {"by", "at"} | ({"adjust"} if self.from_elsewhere else set())
        kept = {name: value for name, value in asdict(self).items() if name not in follows}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]

    def outdated(self, rubric: Rubric) -> bool:
        """Whether the review page gave the points by another version of the rubric.

        This happens, for example, when somebody edits the rubric's file.
        """
        if self.points is None or self.from_elsewhere:
            return False
        return rounded(self.points - max(rubric.earned(self.items) + self.adjust, 0.0)) != 0

    def given(self, rubric: Rubric, items: Iterable[str], adjust: float, *, graded: bool) -> Mark:
        """Return this answer with other points.

        `graded`: False takes the points back, so that the answer waits for a person again.
        """
        if not graded:
            waits = self.auto is None or self.waiting
            return replace(self, items=(), adjust=0.0, written=None, manual=None, extra=None, waiting=waits)
        chosen = rubric.known(items)
        total = max(rubric.earned(chosen) + adjust, 0.0)
        extra = total - rubric.points
        return replace(
            self,
            items=chosen,
            adjust=adjust,
            written=total,
            manual=min(total, rubric.points),
            extra=extra if rounded(extra) > 0 else None,
            waiting=False,
        )


@dataclass(frozen=True)
class QuestionCells:
    """nbgrader's rows for a question.

    `comment_id`: the cell that takes comments, if any.
    """

    notebook: str
    name: str
    cell_id: str
    comment_id: str | None


def read_marks(gradebook: Gradebook, cells: QuestionCells, rubric: Rubric) -> dict[str, Mark]:
    """The marks of all graded submissions, by id of the submitted notebook."""
    ours = Comment.cell_id == cells.comment_id if cells.comment_id else false()
    comment = and_(Comment.notebook_id == Grade.notebook_id, ours)
    kept = and_(MarkRow.notebook_id == Grade.notebook_id, MarkRow.cell == cells.name)
    columns = (Grade.notebook_id, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    rows = gradebook.db.execute(
        select(*columns, Comment.manual_comment, MarkRow.items, MarkRow.adjust, MarkRow.points)
        .add_columns(MarkRow.alone, MarkRow.by, MarkRow.at)
        .join(GradeRow, GradeRow.notebook_id == Grade.notebook_id)
        .outerjoin(Comment, comment)
        .outerjoin(MarkRow, kept)
        .where(Grade.cell_id == cells.cell_id)
    )
    return {row.notebook_id: _mark(row, rubric) for row in rows}


def _mark(row: Any, rubric: Rubric) -> Mark:
    chosen = tuple(json.loads(row.items or "[]")) if row.manual_score is not None else ()
    mark = Mark(
        chosen,
        float(row.adjust or 0.0),
        row.points,
        bool(row.alone),
        row.by or "",
        row.at.isoformat() if row.at else "",
        row.auto_score,
        row.manual_score,
        row.extra_credit or None,
        bool(row.needs_manual_grade) or (row.manual_score is None and row.auto_score is None),  # `open_grades.is_open`
        (row.manual_comment or "").strip(),
    )
    if not mark.from_elsewhere:
        return mark
    assert mark.points is not None
    adjust = mark.points - rubric.earned(chosen)
    return replace(mark, adjust=adjust if rounded(adjust) else 0.0)


@contextmanager
def locked(gradebook: Gradebook, notebooks: Iterable[str]) -> Iterator[None]:
    """Lock the points of these submitted notebooks for a block.

    Commits at the end of the block, or rolls back if it raises.
    """
    db = gradebook.db
    db.rollback()
    try:
        if gradebook.engine.dialect.name == "sqlite":
            db.connection().exec_driver_sql("BEGIN IMMEDIATE")  # SQLite has no row locks
        else:
            rows = select(SubmittedNotebook.id).where(SubmittedNotebook.id.in_(list(notebooks)))
            db.execute(rows.order_by(SubmittedNotebook.id).with_for_update()).all()
        yield
        db.commit()
    except BaseException:
        db.rollback()
        raise


def demand_unchanged(now: Mapping[str, Mark], seen: Mapping[str, str]) -> None:
    """Raise Conflict if a mark differs from the one seen. seen: stamp by id."""
    changed = [key for key, stamp in seen.items() if key not in now or now[key].stamp != stamp]
    if changed:
        raise Conflict("somebody else changed this in the meantime", changed)


def write_marks(
    gradebook: Gradebook, cells: QuestionCells, marks: Mapping[str, Mark], by: str, penalties: AssignLatePenalties
) -> None:
    """Write marks, and the late penalties that follow from them.

    `marks`: by id of the submitted notebook. The caller has locked them.
    """
    now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    for notebook, mark in marks.items():
        gradebook.db.execute(
            update(Grade)
            .where(Grade.cell_id == cells.cell_id, Grade.notebook_id == notebook)
            .values(manual_score=mark.manual, extra_credit=mark.extra, needs_manual_grade=mark.waiting)
            .execution_options(synchronize_session=False)
        )
        if cells.comment_id is not None:
            gradebook.db.execute(
                update(Comment)
                .where(Comment.cell_id == cells.comment_id, Comment.notebook_id == notebook)
                .values(manual_comment=mark.comment or None)
                .execution_options(synchronize_session=False)
            )
        gradebook.db.merge(
            MarkRow(
                notebook_id=notebook,
                cell=cells.name,
                items=json.dumps(mark.items),
                adjust=mark.adjust,
                points=mark.written,
                alone=mark.alone,
                by=by,
                at=now,
            )
        )
    gradebook.db.flush()
    _write_late_penalties(gradebook, marks, penalties)


def _write_late_penalties(gradebook: Gradebook, notebooks: Iterable[str], penalties: AssignLatePenalties) -> None:
    """Compute the penalties again: a penalty may be a share of the points."""
    found = gradebook.db.query(SubmittedNotebook).filter(SubmittedNotebook.id.in_(list(notebooks)))
    for submitted in found:
        gradebook.db.expire(submitted)  # the database computes its sum of points
        apply_late_penalty(gradebook, submitted, submitted.student.id, penalties)


def to_json(mark: Mark) -> dict[str, Any]:
    return asdict(mark)


def from_json(data: Mapping[str, Any]) -> Mark:
    return Mark(**{**data, "items": tuple(data["items"])})
