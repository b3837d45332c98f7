"""Grading of ordinary nbgrader cells by their own tests.

nbgrader's rule: no points if the cell raises an exception, else the number that its last expression gives, else all
points. Output on stderr costs nothing here.
"""

from __future__ import annotations

import math

from nbformat import NotebookNode

from grading.grader.cell_code import same_code
from grading.grader.verdict import ExerciseVerdict, needs_a_person
from grading.notebooks.cells import HIDDEN, check_call, exercise_of, visible
from grading.notebooks.verdict_cell import points_of
from grading.safe_text import one_line

from .kernel.dependencies import ExecutedCell
from .kernel.outputs import code_lines

FAILED = "The test failed at `{line}`: {why}."
HIDDEN_FAILED = "A hidden test failed."


def has_own_code(cell: NotebookNode) -> bool:
    """Whether a grade cell has its own tests, rather than a call of `check`."""
    return not same_code(visible(cell.source).strip(), check_call(exercise_of(cell)))


def grade_asserts(cell: NotebookNode, ran: ExecutedCell, outputs: list[NotebookNode]) -> ExerciseVerdict:
    """Return the verdict on a grade cell that ran, without naming hidden tests."""
    name, points = exercise_of(cell), points_of(cell)
    if not ran.completed:
        return needs_a_person(name, points, f"the test did not end: {ran.stop.why if ran.stop else 'it was not run'}")
    if ran.stop is not None:
        line = _shown_line(cell.source, ran.stop.line)
        reason = one_line(ran.stop.why).rstrip(". :")  # `AssertionError: ` has no text
        why = FAILED.format(line=line.replace("`", "'"), why=reason) if line else HIDDEN_FAILED
        return ExerciseVerdict(name, points, 0.0, "wrong", explanation=why)
    earned = _partial_credit(outputs, points)
    status = "right" if earned >= points else "partly right" if earned > 0 else "wrong"
    return ExerciseVerdict(name, points, earned, status)


def _shown_line(source: str, number: int) -> str:
    """A line of a cell, counted from 1; "" if it is missing or hidden from students."""
    shown = code_lines(HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n"), source))
    return shown[number - 1].strip() if 0 < number <= len(shown) else ""


def _partial_credit(outputs: list[NotebookNode], points: float) -> float:
    """The value of the cell's last expression, capped at `points`; else `points`."""
    results = [output for output in outputs if output.output_type == "execute_result"]
    try:
        given = float(results[0].data["text/plain"])
    except (LookupError, ValueError):
        return points
    return min(given, points) if math.isfinite(given) and given >= 0 else points
