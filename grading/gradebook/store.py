"""Store grades in nbgrader's gradebook, each with its verdicts and inputs.

nbgrader creates a submission's rows before it is graded, and reports 0 points for rows without a grade. So a row of our
own table shows that a grade is present. It is written in the same transaction as the grade, which is therefore either
complete or absent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import (
    Assignment,
    Base,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Column, DateTime, String, Text, func
from sqlalchemy.orm import selectinload, undefer

from grading.grader.verdict import ExerciseVerdict
from grading.notebooks.cells import exercise_of, grade_id
from grading.notebooks.verdict_cell import is_autograded, verdict_of

from ..course_dir.course_time import zone_of
from ..gradebook import late_rules
from ..points import rounded
from . import accommodations, history
from .answer_marks import Marks, kept_marks, replace_marks
from .grade_inputs import ATTEMPT, LATENESS, differences, digest_of_text
from .open_grades import forget_settled

LOG = logging.getLogger(__name__)
ANSWERS = "answers"  # a key of `made_of` that `grade_inputs.differences` ignores


class GradeRow(Base):
    """The inputs and verdicts of a grade.

    nbgrader creates this table with its own when it opens a gradebook. There is no foreign key, since nbgrader deletes
    its rows without knowing this table; a row left behind is never found.
    """

    __tablename__ = "attention_grade"

    notebook_id = Column(String(32), primary_key=True)  # of the submitted notebook
    made_of = Column(Text, nullable=False)
    verdicts = Column(Text, nullable=False)
    digest = Column(String(64), nullable=False)
    graded_at = Column(DateTime, nullable=False)


@dataclass(frozen=True)
class StoredGrade:
    """A stored grade: its student, its inputs and its verdicts.

    digest   of the graded notebook's file
    written  the verdicts as text, parsed only on demand: a class can have ten thousand
    """

    student: str
    lesson: str
    notebook: str
    made_of: Mapping[str, str]
    digest: str
    graded_at: datetime
    written: str

    @cached_property
    def verdicts(self) -> Mapping[str, ExerciseVerdict]:
        """Verdicts by the name of the grade cell."""
        return {name: ExerciseVerdict.from_json(verdict) for name, verdict in json.loads(self.written).items()}


def stored_grades(gradebook: Gradebook, lesson: str = "", student: str = "") -> Iterator[StoredGrade]:
    """All grades, or those of one lesson or student, sorted by student and lesson."""
    found = (
        gradebook.db.query(GradeRow, Notebook.name, Assignment.name, Student.id)
        .join(SubmittedNotebook, SubmittedNotebook.id == GradeRow.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .order_by(Student.id, Assignment.name, Notebook.name)
    )
    found = found.filter(Assignment.name == lesson) if lesson else found
    found = found.filter(Student.id == student) if student else found
    for row, notebook, assignment, who in found:
        yield _stored_grade(row, who, assignment, notebook)


def times_of_grades(gradebook: Gradebook) -> dict[tuple[str, str], datetime]:
    """When each submission was last graded, by student and lesson, in UTC without a time zone."""
    found = (
        gradebook.db.query(Student.id, Assignment.name, func.max(GradeRow.graded_at))
        .select_from(GradeRow)
        .join(SubmittedNotebook, SubmittedNotebook.id == GradeRow.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .group_by(Student.id, Assignment.name)
    )
    return {(student, lesson): at for student, lesson, at in found}


def _stored_grade(row: Any, student: str, lesson: str, notebook: str) -> StoredGrade:
    return StoredGrade(student, lesson, notebook, json.loads(row.made_of), row.digest, row.graded_at, row.verdicts)


def submissions_of(gradebook: Gradebook, lesson: str) -> dict[str, SubmittedAssignment]:
    """A lesson's submissions by student, loaded with points, notebooks and grades.

    Takes the same few queries for any number of submissions.
    """
    notebooks = selectinload(SubmittedAssignment.notebooks)
    found = (
        gradebook.db.query(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == lesson)
        .options(undefer(SubmittedAssignment.score), undefer(SubmittedAssignment.late_submission_penalty))
        .options(notebooks.selectinload(SubmittedNotebook.grades).undefer(Grade.max_score))
    )
    return {str(submission.student_id): submission for submission in found}


def current_grades(gradebook: Gradebook, lesson: str) -> Iterator[tuple[str, history.ScoreSnapshot, Mapping[str, str]]]:
    """Student, points and inputs of each grade of a lesson."""
    submissions = submissions_of(gradebook, lesson)
    for grade in stored_grades(gradebook, lesson):
        for submitted in submissions[grade.student].notebooks:
            if submitted.name == grade.notebook:
                yield grade.student, history.score_snapshot(submitted, {}), grade.made_of


def save(
    gradebook: Gradebook,
    ids: Mapping[str, str],
    nb: NotebookNode,
    text: str,
    made_of: Mapping[str, str],
    penalties: AssignLatePenalties,
) -> None:
    """Write a submitted notebook's grades to the gradebook, in one transaction.

    ids        `assignment`, `student` and `notebook`
    nb, text   the graded notebook, and the text of its file
    penalties  the late policy
    """
    try:
        submitted = _lock_rows(gradebook, ids)
        found = {grade_id(cell): verdict_of(cell) for cell in nb.cells if is_autograded(cell)}
        verdicts = {name: verdict.to_json() for name, verdict in found.items()}
        row = gradebook.db.get(GradeRow, submitted.id)
        old = _stored_grade(row, ids["student"], ids["assignment"], ids["notebook"]) if row else None
        was = history.score_snapshot(submitted, old.verdicts) if old else None
        accommodations.apply(gradebook, ids["assignment"], ids["student"], zone_of(penalties.config))
        answers, asked = _answers(nb, made_of), forget_settled(gradebook, submitted)
        changed, another = _changed(old, answers), old and old.made_of.get("submission") != made_of["submission"]
        marks = replace_marks(gradebook, submitted, changed, answers) if another else {}
        _write_points(submitted, nb, marks, asked, look=() if another else changed)
        gradebook.db.flush()
        gradebook.db.expire(submitted)  # the database computes its sum of points
        apply_late_penalty(gradebook, submitted, ids["student"], penalties)
        if old and was and (was != history.score_snapshot(submitted, found) or _other_attempt(old, made_of)):
            _archive(gradebook, submitted, old, made_of, was)
        gradebook.db.merge(
            GradeRow(
                notebook_id=submitted.id,
                made_of=json.dumps({**made_of, ANSWERS: json.dumps(answers)}),
                verdicts=json.dumps(verdicts),
                digest=digest_of_text(text),
                graded_at=datetime.now(UTC).replace(tzinfo=None),  # nbgrader's times are naive UTC
            )
        )
        gradebook.db.commit()
    except BaseException:
        gradebook.db.rollback()
        raise


def save_lateness(
    gradebook: Gradebook, ids: Mapping[str, str], made_of: Mapping[str, str], penalties: AssignLatePenalties
) -> None:
    """Compute the late penalty of a stored grade again, in one transaction.

    Its verdicts and points stay. Arguments as in `save`; of `made_of`, only ATTEMPT and the keys in LATENESS are used.
    """
    try:
        submitted = _lock_rows(gradebook, ids)
        row = gradebook.db.get(GradeRow, submitted.id)
        old = _stored_grade(row, ids["student"], ids["assignment"], ids["notebook"])
        was = history.score_snapshot(submitted, old.verdicts)
        accommodations.apply(gradebook, ids["assignment"], ids["student"], zone_of(penalties.config))
        apply_late_penalty(gradebook, submitted, ids["student"], penalties)
        if was != history.score_snapshot(submitted, old.verdicts) or _other_attempt(old, made_of):
            _archive(gradebook, submitted, old, made_of, was)
        row.made_of = json.dumps({**old.made_of, **{key: made_of.get(key, "") for key in (*LATENESS, ATTEMPT)}})
        row.graded_at = datetime.now(UTC).replace(tzinfo=None)
        gradebook.db.commit()
    except BaseException:
        gradebook.db.rollback()
        raise


def _other_attempt(old: StoredGrade, made_of: Mapping[str, str]) -> bool:
    """Whether the old grade is of another submission in the exchange, which may count again (`attempts`)."""
    return bool(old.made_of.get(ATTEMPT)) and old.made_of[ATTEMPT] != made_of.get(ATTEMPT)


def _archive(
    gradebook: Gradebook,
    submitted: SubmittedNotebook,
    old: StoredGrade,
    made_of: Mapping[str, str],
    was: history.ScoreSnapshot,
) -> None:
    since, inputs = differences(old.made_of, made_of), {**old.made_of}
    inputs.pop(ANSWERS, None)
    history.archive(gradebook, submitted.id, old.graded_at, since, was, inputs)


def _lock_rows(gradebook: Gradebook, ids: Mapping[str, str]) -> SubmittedNotebook:
    """Read and lock the rows of the submitted notebook, its grades and comments.

    Until the transaction ends, nobody else can grade the notebook or give points by hand. SQLite has no such locks.
    """
    submitted = gradebook.find_submission_notebook(ids["notebook"], ids["assignment"], ids["student"])
    for rows, key in (
        (SubmittedNotebook, SubmittedNotebook.id),
        (Grade, Grade.notebook_id),
        (Comment, Comment.notebook_id),
    ):
        now = gradebook.db.query(rows).filter(key == submitted.id).order_by(rows.id).populate_existing()
        now.with_for_update(of=rows).all()
    return submitted


def _answers(nb: NotebookNode, made_of: Mapping[str, str]) -> dict[str, str]:
    """Digests of the texts that a person looks at, by name of a graded cell, or of an answer's.

    This is the answer, or the whole submission if no cell contains the answer.
    """
    sources = {grade_id(cell): cell.source for cell in nb.cells if utils.is_solution(cell)}
    graded = [cell for cell in nb.cells if utils.is_grade(cell) or utils.is_task(cell)]
    names = {grade_id(cell): exercise_of(cell) if is_autograded(cell) else grade_id(cell) for cell in graded}
    texts = {cell: sources.get(name, made_of["submission"]) for cell, name in names.items()}
    return {cell: digest_of_text(text) for cell, text in {**sources, **texts}.items()}


def _changed(old: StoredGrade | None, answers: Mapping[str, str]) -> dict[str, str]:
    """The cells whose answers have changed since they were last graded, each with the digest before."""
    stored: dict[str, str] = json.loads(old.made_of[ANSWERS]) if old else {}
    return {cell: stored.get(cell, "") for cell, digest in answers.items() if stored.get(cell) != digest}


def marks_to_come(
    gradebook: Gradebook, submitted: SubmittedNotebook, old: StoredGrade, nb: NotebookNode, made_of: Mapping[str, str]
) -> dict[str, Marks]:
    """A person's marks that the changed answers of a new grade will have, by cell; empty for none."""
    if old.made_of.get("submission") == made_of["submission"]:
        return {}
    answers = _answers(nb, made_of)
    return kept_marks(gradebook, submitted.id, {cell: answers[cell] for cell in _changed(old, answers)})


def _write_points(
    submitted: SubmittedNotebook,
    nb: NotebookNode,
    marks: Mapping[str, Marks],
    asked: Container[str],
    look: Container[str],
) -> None:
    """Write the points as nbgrader's SaveAutoGrades does, with two differences.

    marks  those of another submission's answers, by cell (`replace_marks`)
    asked  cells that somebody asked to look at again
    look   cells whose manual points get another look

    An exercise that needs a person gets no points rather than 0. Manual points also get another look if the automatic
    points beside them have changed.
    """
    grades = {grade.name: grade for grade in submitted.grades}
    comments = {comment.name: comment for comment in submitted.comments}
    for cell in nb.cells:
        if utils.is_grade(cell) or utils.is_task(cell):
            name = grade_id(cell)
            grade, before = grades[name], grades[name].auto_score
            grade.auto_score = None if utils.is_task(cell) else utils.determine_grade(cell, LOG)[0]
            if is_autograded(cell) and verdict_of(cell).status == "needs a person":
                grade.auto_score = None
            if grade.manual_score is None:
                grade.needs_manual_grade = grade.auto_score is None or name in asked
            else:
                if own := marks.get(name):
                    before, grade.needs_manual_grade = own["auto"], own["waiting"]
                grade.needs_manual_grade |= name in look or _differ(grade.auto_score, before)
        if utils.is_solution(cell) or utils.is_task(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            comments[grade_id(cell)].auto_comment = "No response." if untouched and not utils.is_task(cell) else None


def _differ(points: float | None, before: float | None) -> bool:
    if points is None or before is None:
        return points is not before
    return rounded(points - before) != 0


def apply_late_penalty(
    gradebook: Gradebook, submitted: SubmittedNotebook, student: str, penalties: AssignLatePenalties
) -> None:
    """Write the late penalty for the points in the gradebook, and its reason.

    The caller ends the transaction.
    """
    submission = submitted.assignment
    times = submission.duedate, submission.timestamp
    submitted.late_submission_penalty = late_rules.penalty(penalties, student, submitted.score, *times)
    why = late_rules.reason(penalties, submission) if late_rules.is_late(*times) else ""
    late_rules.write_reason(gradebook, submitted.id, why)
