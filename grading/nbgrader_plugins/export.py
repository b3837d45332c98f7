"""Every student, lesson and exercise as a row of a CSV file: points, what was found, by which seed.

    nbgrader export --exporter=grading.nbgrader_plugins.export.ExercisesCsvExporter --to exercises.csv

Points come from the gradebook, so a teacher's count; the rest comes from the judge's verdicts in autograded/. A
missing or damaged file is reported and leaves its columns empty; it never stops the rest, and never reads as a zero.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Assignment, Gradebook, MissingEntry, Student, SubmittedNotebook
from nbgrader.plugins import ExportPlugin

from grading.cells import exercise_named, grade_id
from grading.judge.graded import has_verdict, is_judged, verdict_of
from grading.judge.verdict import ExerciseVerdict

DESTINATION = "exercises.csv"
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would take a text that begins so for a formula
NOT_HANDED_IN = "not handed in"
NOT_GRADED = "not graded yet"
NO_VERDICT = "verdict missing"


class ExportError(ValueError):
    """What was asked for is not in the gradebook; the message says what is."""


@dataclass
class CsvRow:
    """One exercise of one student. Empty: not known, or does not apply."""

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


class ExercisesCsvExporter(ExportPlugin):
    """See the module. `--assignment` and `--student` choose, as for nbgrader's own exporter."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file. Where that cannot be done, says why and ends the command with the exit status 1."""
        try:
            self._write(gradebook)
        except (ExportError, OSError) as error:
            self.log.error("Nothing was exported: %s", error)
            sys.exit(1)

    def _write(self, gradebook: Gradebook) -> None:
        assignments = _chosen(self.assignment, gradebook.assignments, "name", "assignment")
        students = _chosen(self.student, gradebook.students, "id", "student")
        destination = Path(self.to or DESTINATION)
        rows = 0
        with destination.open("w", encoding="utf-8-sig", newline="") as file:  # the mark tells Excel it is UTF-8
            writer = csv.DictWriter(file, [column.name for column in fields(CsvRow)])
            writer.writeheader()
            for assignment in assignments:
                for student in students:
                    for row in self._rows(gradebook, assignment, student):
                        writer.writerow({name: _safe(value) for name, value in asdict(row).items()})
                        rows += 1
        self.log.info("%d rows written to %s", rows, destination)

    def _rows(self, gradebook: Gradebook, assignment: Assignment, student: Student) -> Iterator[CsvRow]:
        who = (student.id, student.last_name or "", student.first_name or "", assignment.name)
        try:
            submission = gradebook.find_submission(assignment.name, student.id)
        except MissingEntry:
            for notebook in assignment.notebooks:
                for cell in notebook.grade_cells:
                    yield CsvRow(*who, exercise_named(cell.name), 0.0, cell.max_score)
            return
        when = submission.timestamp.isoformat(" ") if submission.timestamp else ""
        for notebook in submission.notebooks:
            verdicts, problem = self._verdicts(assignment.name, student.id, notebook)
            for grade in sorted(notebook.grades, key=lambda grade: grade.cell.id):
                row = CsvRow(*who, exercise_named(grade.name), grade.score, grade.max_score, handed_in=when)
                _complete(row, grade, verdicts.get(grade.name), problem)
                yield row

    def _verdicts(
        self, assignment: str, student: str, notebook: SubmittedNotebook
    ) -> tuple[dict[str, ExerciseVerdict], str]:
        """The verdicts by grade cell, and what is wrong with the file that should hold them, if anything is."""
        coursedir = self.parent.coursedir
        folder = coursedir.format_path(coursedir.autograded_directory, student, assignment)
        path = Path(folder) / f"{notebook.name}.ipynb"
        again = f"run `nbgrader autograde {assignment} --student {student} --force`"
        if not path.is_file():
            if all(grade.auto_score is None and grade.manual_score is None for grade in notebook.grades):
                return {}, NOT_GRADED
            problem = f"{path} is missing: {again}"
        else:
            try:
                cells = nbformat.read(path, as_version=4).cells
                found = {grade_id(c): verdict_of(c) for c in cells if _is_judged_cell(c)}
            except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
                problem = f"{path} cannot be read ({type(error).__name__}): {again}"
            else:
                return found, "" if found else f"{path} holds no verdict: {again}"
        self.log.error(problem)
        return {}, problem


def _is_judged_cell(cell: Any) -> bool:
    return is_judged(cell) and has_verdict(cell)


def _complete(row: CsvRow, grade: Any, verdict: ExerciseVerdict | None, problem: str) -> None:
    """What the verdict and a person's grade add to a row."""
    if verdict is None:
        row.status, row.reason = (NOT_GRADED, "") if problem == NOT_GRADED else (NO_VERDICT, problem)
        row.points = "" if grade.auto_score is None and grade.manual_score is None else grade.score
    else:
        row.judged_points, row.status, row.mistake = float(verdict.earned), verdict.status, verdict.named
        row.criteria = "; ".join(f"{c.name}: {c.earned:g}/{c.points:g}" for c in verdict.criteria)
        row.followed_through = ", ".join(verdict.followed_through)
        row.not_allowed = ", ".join(verdict.not_allowed)
        row.sandboxed = "yes" if verdict.sandboxed else "no"
        row.seed = verdict.seed
        row.reason = verdict.internal
    if grade.manual_score is not None:
        row.status = "graded by a person" if row.status in ("needs a person", NOT_GRADED) else row.status
        row.needs_a_person = "yes" if grade.needs_manual_grade else "no"
    else:
        row.needs_a_person = "yes" if grade.needs_manual_grade and row.status != NOT_GRADED else "no"
        row.points = "" if row.status == "needs a person" else row.points


def _chosen(names: Iterable[Any], known: Iterable[Any], key: str, what: str) -> list[Any]:
    """Those of `known` that are named, or all. Raises ExportError for a name that is none of them."""
    by_name = {str(getattr(item, key)): item for item in known}
    wanted = [str(name) for name in names]
    if unknown := [name for name in wanted if name not in by_name]:
        there = ", ".join(by_name) or "none"
        raise ExportError(f"the gradebook has no {what} {', '.join(unknown)}; it has: {there}")
    return [by_name[name] for name in (wanted or by_name)]


def _safe(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return f"{round(value, 4):g}" if isinstance(value, float) else value
