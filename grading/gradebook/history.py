"""The history of grades: a copy of each grade that a new one has replaced.

A regrade that gives the same grade, in every criterion, adds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import Assignment, Base, Gradebook, Notebook, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Column, DateTime, Integer, String, Text

from grading.grader.verdict import ExerciseVerdict
from grading.notebooks.cells import exercise_named

from .open_grades import is_open


class HistoryRow(Base):
    __tablename__ = "attention_history"

    id = Column(Integer, primary_key=True, autoincrement=True)
    notebook_id = Column(String(32), nullable=False, index=True)  # of the submitted notebook
    graded_at = Column(DateTime, nullable=False)
    replaced_at = Column(DateTime, nullable=False)
    since = Column(Text, nullable=False)
    was = Column(Text, nullable=False)


@dataclass(frozen=True)
class Score:
    """Points of one exercise. points: None if a person had yet to give them; found: the verdict's status and the
    mistake's name; by_hand: whether a person gave the points; criteria: points by name; open: whether a person had to
    look at it, or to look again."""

    points: float | None
    most: float
    found: str = ""
    by_hand: bool = False
    criteria: Mapping[str, float] | None = None
    open: bool = False


@dataclass(frozen=True)
class ScoreSnapshot:
    """A submission's points in the gradebook, by exercise, and its late penalty."""

    exercises: Mapping[str, Score]
    penalty: float = 0.0

    @property
    def open(self) -> bool:
        return any(score.open or score.points is None for score in self.exercises.values())

    @property
    def points(self) -> float:
        return max(0.0, sum(score.points or 0.0 for score in self.exercises.values()) - self.penalty)


@dataclass(frozen=True)
class PastGrade:
    """A replaced grade, with phrases on what had changed when it was replaced.

    made_of  its inputs (`grade_inputs`)
    """

    student: str
    lesson: str
    graded_at: datetime
    replaced_at: datetime
    since: list[str]
    standings: ScoreSnapshot
    made_of: Mapping[str, str]


def score_snapshot(submitted: SubmittedNotebook, verdicts: Mapping[str, ExerciseVerdict]) -> ScoreSnapshot:
    """A submitted notebook's current points.

    `verdicts`: by the name of the grade cell.
    """
    found = {}
    for grade in submitted.grades:
        verdict, by_hand = verdicts.get(grade.name), grade.manual_score is not None
        points = grade.manual_score if by_hand else grade.auto_score
        points = None if points is None else float(points) + float(grade.extra_credit or 0.0)
        words = " ".join(filter(None, (verdict.status, verdict.mistake_names))) if verdict else ""
        criteria = {c.name: c.earned for c in verdict.criteria} if verdict else None
        score = Score(points, float(grade.max_score), words, by_hand, criteria, is_open(grade))
        found[exercise_named(grade.name)] = score
    return ScoreSnapshot(found, float(submitted.late_submission_penalty or 0.0))


def archive(
    gradebook: Gradebook,
    notebook: str,
    graded_at: datetime,
    since: list[str],
    was: ScoreSnapshot,
    made_of: Mapping[str, str],
) -> None:
    """Store the old points of a submitted notebook.

    notebook  its id
    made_of   the inputs of the old grade

    The caller ends the transaction.
    """
    now = datetime.now(UTC).replace(tzinfo=None)
    columns = {"since": json.dumps(since), "was": json.dumps({**asdict(was), "made_of": dict(made_of)})}
    gradebook.db.add(HistoryRow(notebook_id=notebook, graded_at=graded_at, replaced_at=now, **columns))


def past_grades(gradebook: Gradebook, lesson: str = "", student: str = "") -> Iterator[PastGrade]:
    """Replaced grades of a lesson, a student or the whole course.

    Sorted by student and lesson, oldest first.
    """
    found = (
        gradebook.db.query(HistoryRow, Assignment.name, Student.id)
        .join(SubmittedNotebook, SubmittedNotebook.id == HistoryRow.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .order_by(Student.id, Assignment.name, HistoryRow.id)
    )
    found = found.filter(Assignment.name == lesson) if lesson else found
    found = found.filter(Student.id == student) if student else found
    for row, name, who in found:
        was = json.loads(row.was)
        about = json.loads(row.since), _from_json(was), was["made_of"]
        yield PastGrade(who, name, row.graded_at, row.replaced_at, *about)


def _from_json(data: dict[str, Any]) -> ScoreSnapshot:
    return ScoreSnapshot({name: Score(**score) for name, score in data["exercises"].items()}, data["penalty"])
