"""Check a graded notebook before its grade is written.

The marked cells must be exactly the gradebook's own, each once and with its own points. A result from another machine
must also belong to its task, have a bounded size, and have in every grade cell a verdict within its points and the
report that follows from this verdict.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from grading.errors import InvalidResult
from grading.judge.collect_results import write_bounded
from grading.judge.messages import MAX_BYTES
from grading.notebooks.cells import RECORD, grade_id
from grading.notebooks.released import ReleasedNotebook
from grading.notebooks.verdict_cell import is_autograded, nbgrader_metadata, verdict_of
from grading.safe_text import one_line

from .submission import GradedNotebook, GradingTask

MAX_TEXT = MAX_BYTES  # characters: a judge's limit


@dataclass(frozen=True)
class SentGrade:
    """A `GradedNotebook` on its way from a worker on another machine."""

    student: str
    text: str
    diagnosed: frozenset[str]


def check_marked_cells(nb: NotebookNode, released: ReleasedNotebook) -> None:
    """Raise InvalidResult if the marked cells of a graded notebook are not the lesson's."""
    try:
        found = [(grade_id(cell), dict(nbgrader_metadata(cell))) for cell in nb.cells if "nbgrader" in cell.metadata]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InvalidResult("the worker returned something that is not a notebook") from None
    wanted = {name: cell.metadata()["nbgrader"] for name, cell in released.marked.items()}
    if len(found) != len(wanted) or dict(found) != wanted:
        raise InvalidResult("the worker's notebook does not have each marked cell of the lesson exactly once")


def validate_remote(got: object, task: GradingTask) -> GradedNotebook:
    """Check what a worker on another machine returned. Raises InvalidResult."""
    if not isinstance(got, SentGrade) or got.student != task.student or not isinstance(got.text, str):
        raise InvalidResult("the worker returned something that is not this student's grade")
    if len(got.text) > MAX_TEXT:
        raise InvalidResult(f"the worker's notebook is too large: {len(got.text) / 1000000.0:.0f} MB")
    released = task.job.request.released
    try:
        nb: NotebookNode = nbformat.v4.reads(got.text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidResult("the worker returned something that is not a notebook") from None
    check_marked_cells(nb, released)
    try:
        if nb.metadata[RECORD].get("sandboxed", task.sandboxed) != task.sandboxed:
            raise ValueError(f"sandboxed: expected {task.sandboxed}, got {not task.sandboxed}")
        for cell in filter(is_autograded, nb.cells):
            _check_verdict(cell, task)
        diagnosed = frozenset(got.diagnosed) & {cell.exercise for cell in released.marked.values()}
    except (ValueError, TypeError, KeyError, AttributeError, LookupError) as error:
        raise InvalidResult(f"the worker's notebook is not valid: {one_line(str(error))}") from None
    return GradedNotebook(task.student, nb, got.text, diagnosed)


def _check_verdict(cell: NotebookNode, task: GradingTask) -> None:
    """Check a cell's verdict and report.

    Raises LookupError if the verdict is missing, ValueError if the verdict or the report is wrong.
    """
    verdict: Any = verdict_of(cell)
    expected = copy.deepcopy(cell)
    has_verdict = verdict.status != "needs a person"
    if verdict.sandboxed != task.sandboxed or (has_verdict and verdict.seed != task.seed):
        raise ValueError(f"{grade_id(cell)} was judged with other settings than requested")
    if not write_bounded(expected, verdict.to_json(), verdict.seed) or expected.outputs != cell.outputs:
        raise ValueError(f"{grade_id(cell)} has no verdict within its points, or another report than the verdict's")
