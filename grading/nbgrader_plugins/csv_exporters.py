"""CSV exports of grades: rows per student and lesson, per student, or per exercise.

    nbgrader export
    nbgrader export --exporter=grading.nbgrader_plugins.csv_exporters.WideCsvExporter --to class.csv
    nbgrader export --exporter=grading.nbgrader_plugins.csv_exporters.ExercisesCsvExporter --to exercises.csv

Points come from the gradebook, so they include a teacher's changes; the rest comes from the stored verdict. For an
ungraded submission the points are empty, never 0. Provisional points (a person still has to grade something) are left
out, unless you ask for them:

    nbgrader export --GradesCsvExporter.provisional=True
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from nbgrader.plugins import ExportPlugin
from traitlets import Bool

from course.outline import counts
from grading.course_dir.course_time import local, zone_of
from grading.course_dir.lessons import list_lessons
from grading.errors import CsvExportError
from grading.grader.verdict import ExerciseVerdict
from grading.notebooks.cells import exercise_named
from grading.points import points_text
from grading.safe_csv import write_rows

from ..gradebook.accommodations import accommodations
from ..gradebook.open_grades import has_open_grades, is_open, total_points
from ..gradebook.store import StoredGrade, stored_grades, submissions_of

NOT_HANDED_IN = "not handed in"
NOT_GRADED = "not graded yet"
NEEDS_A_PERSON = "needs a person"
NOT_STARTED = "not started"
EXCUSED = "excused"


@dataclass
class CsvRow:
    """One exercise of one student. Empty cells: unknown, or not applicable."""

    student: str
    last_name: str
    first_name: str
    lesson: str
    exercise: str
    points: float | str
    max_points: float
    judged_points: float | str = ""
    status: str = NOT_HANDED_IN
    mistake: str = ""
    criteria: str = ""
    followed_through: str = ""
    not_allowed: str = ""
    needs_a_person: str = ""
    sandboxed: str = ""
    seed: int | str = ""
    handed_in: str = ""
    reason: str = ""


class _CsvExporter(ExportPlugin):
    """Base of the exporters. `--assignment` and `--student` select rows, as in nbgrader."""

    destination: str
    row: type
    excused: frozenset[tuple[str, str]] | set[tuple[str, str]] = frozenset()  # (student, lesson)
    left_out: frozenset[tuple[str, str]] | set[tuple[str, str]] = frozenset()  # those with provisional points

    provisional = Bool(False, help="Write the points of submissions that a person has not fully graded yet.").tag(
        config=True
    )

    def export(self, gradebook: Gradebook) -> None:
        """Write the file. On an error, log it and exit with status 1."""
        try:
            self._write(gradebook)
        except (CsvExportError, OSError) as error:
            self.log.error("Nothing was exported: %s", error)
            sys.exit(1)

    def _write(self, gradebook: Gradebook) -> None:
        assignments = _select(self.assignment, self._ordered(gradebook.assignments), "name", "assignment")
        students = _select(self.student, gradebook.students, "id", "student")
        destination = Path(self.to or self.destination)
        rows = write_rows(destination, self._columns(assignments), self._all(gradebook, assignments, students))
        self.log.info("%d rows written to %s", rows, destination)
        if self.left_out:
            self.log.warning(
                "%d submission%s no points in the file, because a person has not graded everything yet (%s). "
                "Add --%s.provisional=True to write the points so far.",
                len(self.left_out),
                " has" if len(self.left_out) == 1 else "s have",
                "; ".join(f"{student}, {lesson}" for student, lesson in sorted(self.left_out)),
                type(self).__name__,
            )

    def _ordered(self, assignments: list[Assignment]) -> list[Assignment]:
        """The assignments in the course's order."""
        root = Path(getattr(getattr(self.parent, "coursedir", None), "root", "."))
        known = {name: place for place, name in enumerate(list_lessons(root, ordinary=True))}
        return sorted(assignments, key=lambda one: known.get(one.name, len(known)))

    def _columns(self, assignments: list[Assignment]) -> list[str]:
        return [column.name for column in fields(self.row)]

    def _all(
        self, gradebook: Gradebook, assignments: list[Assignment], students: list[Student]
    ) -> Iterator[dict[str, Any]]:
        for row in self._each(gradebook, assignments, students):
            yield asdict(row)

    def _each(self, gradebook: Gradebook, assignments: list[Assignment], students: list[Student]) -> Iterator[Any]:
        self.excused = {(row.student, row.lesson) for row in accommodations(gradebook) if row.excused}
        self.left_out = set()
        for assignment in assignments:
            graded = {grade.student: grade for grade in stored_grades(gradebook, assignment.name)}
            handed_in = submissions_of(gradebook, assignment.name)
            for student in students:
                yield from self._rows(assignment, student, handed_in.get(student.id), graded)

    def _rows(
        self,
        assignment: Assignment,
        student: Student,
        submission: SubmittedAssignment | None,
        graded: dict[str, StoredGrade],
    ) -> Iterator[Any]:
        raise NotImplementedError

    def _keeps_back(self, submission: SubmittedAssignment) -> bool:
        """Whether to leave out this submission's points because they are provisional."""
        key = (submission.student_id, submission.assignment.name)
        if self.provisional or key in self.excused or not has_open_grades(submission):
            return False
        self.left_out = {*self.left_out, key}
        return True


@dataclass
class GradeRow:
    """One lesson of one student: the columns of nbgrader's exporter, and a status."""

    assignment: str
    duedate: str
    timestamp: str
    student_id: str
    last_name: str
    first_name: str
    email: str
    raw_score: float | str
    late_submission_penalty: float | str
    score: float | str
    max_score: float
    status: str


class GradesCsvExporter(_CsvExporter):
    """Replaces nbgrader's own exporter, which writes 0 points for ungraded work."""

    destination, row = "grades.csv", GradeRow

    def _rows(
        self,
        assignment: Assignment,
        student: Student,
        submission: SubmittedAssignment | None,
        graded: dict[str, StoredGrade],
    ) -> Iterator[GradeRow]:
        points: tuple[float | str, float | str, float | str] = (0.0, 0.0, 0.0)
        status, when, zone = NOT_HANDED_IN, "", zone_of(self.config)
        if submission is not None:
            when = str(local(submission.timestamp, zone)) if submission.timestamp else ""
            penalty = submission.late_submission_penalty
            points = submission.score, penalty, total_points(submission)
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            status = NEEDS_A_PERSON if has_open_grades(submission) else "graded"
            if student.id not in graded and not all(grade.manual_score is not None for grade in grades):
                points, status = ("", "", ""), NOT_GRADED
            elif self._keeps_back(submission):
                points = ("", "", "")
        if (student.id, assignment.name) in self.excused:
            points, status = ("", "", ""), EXCUSED
        who = (student.id, student.last_name or "", student.first_name or "", student.email or "")
        due = str(local(assignment.duedate, zone)) if assignment.duedate else ""
        yield GradeRow(assignment.name, due, when, *who, *points, assignment.max_score, status)


class WideCsvExporter(GradesCsvExporter):
    """One row per student, one column per lesson.

    A cell holds the points that count, `EX` if excused, or nothing if not graded or provisional. `total` and `out_of`
    add up the lessons that count, which warm-ups do not.
    """

    destination = "class.csv"

    def _columns(self, assignments: list[Assignment]) -> list[str]:
        lessons = [assignment.name for assignment in assignments]
        return ["student_id", "last_name", "first_name", "email", *lessons, "total", "out_of"]

    def _all(
        self, gradebook: Gradebook, assignments: list[Assignment], students: list[Student]
    ) -> Iterator[dict[str, Any]]:
        of_student: dict[str, list[GradeRow]] = {student.id: [] for student in students}
        for row in self._each(gradebook, assignments, students):
            of_student[row.student_id].append(row)
        for rows in of_student.values():
            if rows:
                yield _wide(rows)


def _wide(rows: list[GradeRow]) -> dict[str, Any]:
    """One student's lessons in one row."""
    identity = {name: getattr(rows[0], name) for name in ("student_id", "last_name", "first_name", "email")}
    shown = {row.assignment: "EX" if row.status == EXCUSED else row.score for row in rows}
    total = float(sum(points for name, points in shown.items() if isinstance(points, float) and counts(name)))
    most = float(sum(row.max_score for row in rows if row.status != EXCUSED and counts(row.assignment)))
    return {**identity, **shown, "total": total, "out_of": most}


class ExercisesCsvExporter(_CsvExporter):
    """Every exercise of every student (`CsvRow`)."""

    destination, row = "exercises.csv", CsvRow

    def _rows(
        self,
        assignment: Assignment,
        student: Student,
        submission: SubmittedAssignment | None,
        graded: dict[str, StoredGrade],
    ) -> Iterator[CsvRow]:
        who = (student.id, student.last_name or "", student.first_name or "", assignment.name)
        if submission is None:
            for notebook in assignment.notebooks:
                for cell in [*notebook.grade_cells, *notebook.task_cells]:
                    yield CsvRow(*who, exercise_named(cell.name), 0.0, cell.max_score)
            return
        when = str(local(submission.timestamp, zone_of(self.config))) if submission.timestamp else ""
        verdicts = graded[student.id].verdicts if student.id in graded else None
        kept_back = verdicts is not None and self._keeps_back(submission)
        for notebook in submission.notebooks:
            for grade in sorted(notebook.grades, key=lambda grade: grade.cell.id):
                row = CsvRow(*who, exercise_named(grade.name), grade.score, grade.max_score, handed_in=when)
                _complete(row, grade, verdicts)
                if kept_back or (grade.manual_score is None and grade.auto_score is None):
                    row.points = ""
                yield row


def _complete(row: CsvRow, grade: Any, verdicts: Mapping[str, ExerciseVerdict] | None) -> None:
    """Add the verdict and a person's grade to a row; verdicts: None if not graded."""
    verdict = None if verdicts is None else verdicts.get(grade.name)
    if verdict is not None:
        row.judged_points, row.status, row.mistake = float(verdict.earned), verdict.status, verdict.mistake_names
        row.criteria = "; ".join(f"{c.name}: {points_text(c.earned)}/{points_text(c.points)}" for c in verdict.criteria)
        row.followed_through = ", ".join(verdict.followed_through)
        row.not_allowed = ", ".join(verdict.not_allowed)
        row.sandboxed = "yes" if verdict.sandboxed else "no"
        row.seed = verdict.seed
        row.reason = verdict.grader_error
    elif verdicts is None and grade.manual_score is None:
        row.status, row.points = NOT_GRADED, ""
    else:  # a person grades it; without an answer it has points already
        row.status = NOT_STARTED
    row.needs_a_person = "yes" if is_open(grade) and row.status != NOT_GRADED else "no"
    if row.needs_a_person == "yes":
        row.status = NEEDS_A_PERSON
    elif grade.manual_score is not None and row.status in (NEEDS_A_PERSON, NOT_STARTED):
        row.status = "graded by a person"


def _select(names: Iterable[Any], known: Iterable[Any], key: str, what: str) -> list[Any]:
    """The items of `known` in `names`, or all. Raises CsvExportError for an unknown name."""
    by_name = {str(getattr(item, key)): item for item in known}
    wanted = [str(name) for name in names]
    if unknown := [name for name in wanted if name not in by_name]:
        there = ", ".join(by_name) or "none"
        raise CsvExportError(f"the gradebook has no {what} {', '.join(unknown)}; it has: {there}")
    return [by_name[name] for name in (wanted or by_name)]
