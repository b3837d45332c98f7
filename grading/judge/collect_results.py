"""Collection of one submission's results from its judge, within bounds.

The notebook comes first, then outputs and verdicts. We make the outputs of a grade cell from the verdict: the report,
then one finite plain float. If a judge exceeds its limits, the cells without a verdict need a person. If a judge is
lost through our fault, the next one starts over; after `TRIES` of them the submission is not graded.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grading.errors import JudgeFailed, SubmissionNotGraded, Unreadable
from grading.grader.verdict import ExerciseVerdict, needs_a_person
from grading.notebooks.cells import RECORD, exercise_of
from grading.notebooks.verdict_cell import has_verdict, is_autograded, points_of, write_verdict

from ..notebooks import sanitize_markdown
from ..notebooks.repair import repair
from ..notebooks.submitted_file import resolve, unreadable_notebook
from . import start_judge
from .job import GradeRequest, Job
from .messages import CellOutputs, CellVerdict, SanitizedNotebook
from .start_judge import JudgeProcess

TRIES = 3  # judges per submission that may be lost
ROUNDING = 1e-6  # in a sum of points
MAX_TEXT = 20_000  # characters per text of a verdict
MAX_LISTED = 100  # items per list of a verdict
DIAGNOSED = ("partly right", "wrong", "not allowed")  # statuses for which known mistakes are diagnosed
LOG = logging.getLogger(__name__)


class SubmissionRun:
    """One submission and its judge, which is replaced if it is lost.

    Raises SubmissionNotGraded if the last one is lost too.
    """

    def __init__(self, job: Job[GradeRequest], file: str | Path, max_bytes: int) -> None:
        self._job, self._file, self._max_bytes = job, file, max_bytes
        self._tries = TRIES
        self._judge: JudgeProcess | None = None
        self._messages = self._judge_messages()

    def notebook(self) -> NotebookNode:
        """The submitted notebook, repaired and sanitized.

        If it cannot be read: the lesson's own cells, with the reason. Raises SandboxUnavailable, SubmissionNotGraded.
        """
        try:
            for message in self._messages:
                if isinstance(message, SanitizedNotebook):
                    nb: NotebookNode = nbformat.from_dict(message.notebook)
                    break
            else:
                raise SubmissionNotGraded("its judge returned no notebook")
        except (Unreadable, JudgeFailed) as error:
            why = str(error) if isinstance(error, Unreadable) else f"The judge that read it {error}."
            nb = unread_notebook(self._job, why)
        if "unreadable" in nb.metadata[RECORD]:
            self.close()
        return nb

    def write_results(self, nb: NotebookNode, seed: str) -> tuple[set[str], str]:
        """Write outputs and verdicts into this notebook. Raises as `notebook`.

        seed: the id of the secret seed. Returns the exercises whose known mistakes were diagnosed, and why cells
        may lack a verdict.
        """
        cells = {cell.id: cell for cell in nb.cells if cell.cell_type == "code"}
        diagnosed: set[str] = set()
        try:
            for message in self._messages:
                if isinstance(message, CellOutputs | CellVerdict) and message.cell in cells:
                    diagnosed |= _apply(cells[message.cell], message, seed)
        except JudgeFailed as error:
            LOG.error("The judge %s: the exercises that it had not judged are left to a person.", error)
            return diagnosed, f"the judge {error}"
        finally:
            self.close()
        return diagnosed, "it was not judged"

    def close(self) -> None:
        """End the running judge, if any."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def _judge_messages(self) -> Iterator[Any]:
        while True:
            self._tries -= 1
            try:
                self._judge = JudgeProcess(self._job, resolve(self._file, self._max_bytes), self._max_bytes)
                yield from self._judge.messages()
                return
            except SubmissionNotGraded as error:
                self.close()
                if not self._tries or start_judge.stopped():
                    raise
                LOG.warning("%s: begun again", error)


def unread_notebook(job: Job[GradeRequest], why: str) -> NotebookNode:
    """The lesson's own cells, with the reason why a submission cannot be read."""
    nb = unreadable_notebook(why)
    repair(nb, job.request.released)
    return nb


def mark_for_manual_grading(nb: NotebookNode, why: str, sandboxed: bool) -> None:
    """Give each grade cell without a verdict one that asks for a person."""
    for cell in nb.cells:
        if is_autograded(cell) and not has_verdict(cell):
            _write(cell, needs_a_person(exercise_of(cell), points_of(cell), why, sandboxed=sandboxed))


def _apply(cell: NotebookNode, message: CellOutputs | CellVerdict, seed: str) -> set[str]:
    if isinstance(message, CellOutputs):
        if not is_autograded(cell):
            cell.outputs = nbformat.from_dict([output for output in message.outputs if output])
            cell.execution_count = message.count
        return set()
    verdict = write_bounded(cell, message.verdict, seed) if is_autograded(cell) else None
    return {verdict.exercise} if verdict is not None and verdict.status in DIAGNOSED else set()


def write_bounded(cell: NotebookNode, data: Any, seed: int | str) -> ExerciseVerdict | None:
    """Write a verdict into its grade cell; None if it is invalid or out of bounds."""
    verdict = _parse_verdict(data, cell)
    if verdict is not None:
        verdict.seed = seed
        _write(cell, verdict)
    return verdict


def _write(cell: NotebookNode, verdict: ExerciseVerdict) -> None:
    """Write the verdict and its report, in which no LaTeX command can make a link."""
    write_verdict(cell, verdict)
    data = cell.outputs[0].data
    data["text/html"] = sanitize_markdown.without_commands(data["text/html"])


def _parse_verdict(data: Any, cell: NotebookNode) -> ExerciseVerdict | None:
    """Parse a judge's verdict on this cell; None if invalid or out of bounds."""
    try:
        verdict = ExerciseVerdict.from_json(_truncate(data))
        valid = 0 <= verdict.earned <= points_of(cell) + ROUNDING and verdict.exercise == exercise_of(cell)
        return verdict if valid else None  # NaN is not in range
    except (TypeError, ValueError, KeyError):
        return None


def _truncate(value: Any) -> Any:
    """Truncate the texts and lists in JSON data to sizes that fit a page."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}… cut"
    if isinstance(value, list):
        return [_truncate(item) for item in value[:MAX_LISTED]]
    return {str(key): _truncate(item) for key, item in value.items()} if isinstance(value, dict) else value
