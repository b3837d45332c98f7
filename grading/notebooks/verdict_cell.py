"""A grade cell's verdict, as an autograded notebook stores it.

It consists of the report and one finite plain float, which is all that nbgrader reads. A verdict in a student's own
cell does not count (`is_autograded`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.report_html import to_html
from grading.notebooks.cells import grade_id

from ..grader.verdict import MIME, ExerciseVerdict
from ..grader.verdict_report import to_report


def nbgrader_metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """nbgrader's metadata of a cell; empty if it has none."""
    marks = cell["metadata"].get("nbgrader")
    return marks if isinstance(marks, Mapping) else {}


def is_autograded(cell: NotebookNode) -> bool:
    """Whether nbgrader takes this code cell's grade from its output."""
    marks = nbgrader_metadata(cell)
    return cell.cell_type == "code" and bool(marks.get("grade")) and not marks.get("solution")


def points_of(cell: NotebookNode) -> float:
    return float(nbgrader_metadata(cell)["points"])


def has_verdict(cell: NotebookNode) -> bool:
    return any(MIME in output.get("data", {}) for output in cell.outputs)


def verdict_of(cell: NotebookNode) -> ExerciseVerdict:
    """The verdict in an autograded cell. Raises LookupError if there is none."""
    for output in cell.outputs:
        if MIME in output.get("data", {}):
            return ExerciseVerdict.from_json(output["data"][MIME])
    raise LookupError(f"no verdict in {grade_id(cell)}")


def write_verdict(cell: NotebookNode, verdict: ExerciseVerdict) -> None:
    """Replace a grade cell's outputs with the report and one plain float."""
    report = to_report(verdict)
    text = report.to_text(everything=True)
    data: dict[str, Any] = {"text/html": to_html(report), "text/plain": text, MIME: verdict.to_json()}
    score = repr(min(float(verdict.earned), points_of(cell)))  # nbgrader refuses more, even by a rounding error
    cell.execution_count = 1
    cell.outputs = [
        new_output("display_data", data=data),
        new_output("execute_result", data={"text/plain": score}, execution_count=1),
    ]
