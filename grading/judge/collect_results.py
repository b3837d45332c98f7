"""What the coordinator takes of a judge: the notebook in order, then outputs and verdicts, each within bounds.

A grade cell's outputs are ours, made from the verdict: the report, then one finite plain float. A judge that ran over
leaves what has no verdict to a person; one that was lost by our fault is begun again, and then the submission is not
graded.
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
from ..notebooks.released import ReleasedNotebook
from ..notebooks.repair import repair
from ..notebooks.submitted_file import resolve, unreadable_notebook
from . import client
from .client import Job, JudgeProcess

TRIES = 3  # judges of one submission that may be lost
ROUNDING = 1e-6  # of a sum of points
MAX_TEXT = 20_000  # characters of a verdict's sentence
MAX_LISTED = 100  # criteria, notes and names of a verdict
DIAGNOSED = ("partly right", "wrong", "not allowed")  # verdicts for which the known mistakes are looked at
LOG = logging.getLogger(__name__)


class SubmissionRun:
    """One file at its judge, or at another if that one is lost. Raises SubmissionNotGraded if the last one is, too."""

    def __init__(self, work: Job, file: str | Path, max_bytes: int) -> None:
        self._work, self._file, self._max_bytes = work, file, max_bytes
        self._tries = TRIES
        self._judge: JudgeProcess | None = None
        self._messages = self._of_judges()

    def notebook(self) -> NotebookNode:
        """What was handed in, in order and harmless; of what cannot be read the lesson's own cells, with nothing of the
        student's, and why. Raises SandboxUnavailable, SubmissionNotGraded."""
        try:
            for message in self._messages:
                if "notebook" in message:
                    made: NotebookNode = nbformat.from_dict(message["notebook"])
                    break
            else:
                raise SubmissionNotGraded("its judge handed back no notebook")
        except (Unreadable, JudgeFailed) as error:
            made = unread(
                self._work, str(error) if isinstance(error, Unreadable) else f"The judge that read it {error}."
            )
        if "unreadable" in made.metadata[RECORD]:
            self.close()
        return made

    def write_results(self, nb: NotebookNode, seed: str) -> tuple[set[str], str]:
        """Write outputs and verdicts into this notebook; the exercises whose known mistakes were looked at, and why
        there may be cells without a verdict. seed: the name of the course's secret. Raises as `notebook`.
        """
        cells = {cell.id: cell for cell in nb.cells if cell.cell_type == "code"}
        diagnosed: set[str] = set()
        try:
            for message in self._messages:
                cell = cells.get(str(message.get("cell", "")))
                if cell is not None:
                    diagnosed |= _apply(cell, message, seed)
        except JudgeFailed as error:
            LOG.error("The judge %s: what it had not judged is left to a person.", error)
            return diagnosed, f"the judge {error}"
        finally:
            self.close()
        return diagnosed, "it was not judged"

    def close(self) -> None:
        """End the judge that is at work, if one is."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def _of_judges(self) -> Iterator[dict[str, Any]]:
        while True:
            self._tries -= 1
            try:
                self._judge = JudgeProcess(self._work, resolve(self._file, self._max_bytes), self._max_bytes)
                yield from self._judge.messages()
                return
            except SubmissionNotGraded as error:
                self.close()
                if not self._tries or client.stopped():
                    raise
                LOG.warning("%s: begun again", error)


def unread(work: Job, why: str) -> NotebookNode:
    """Of what cannot be read the lesson's own cells, with nothing of the student's, and why."""
    made = unreadable_notebook(why)
    repair(made, ReleasedNotebook.from_json(work.request["released"]))
    return made


def mark_for_manual_grading(nb: NotebookNode, why: str, sandboxed: bool) -> None:
    """Give every grade cell that has no verdict the one that a person is to look at it."""
    for cell in nb.cells:
        if is_autograded(cell) and not has_verdict(cell):
            _write(cell, needs_a_person(exercise_of(cell), points_of(cell), why, sandboxed=sandboxed))


def _apply(cell: NotebookNode, message: dict[str, Any], seed: str) -> set[str]:
    if not is_autograded(cell):
        cell.outputs = nbformat.from_dict([output for output in message.get("outputs") or () if output])
        count = message.get("count")
        cell.execution_count = count if isinstance(count, int) else None
        return set()
    verdict = write_bounded(cell, message.get("verdict"), seed)
    return {verdict.exercise} if verdict is not None and verdict.status in DIAGNOSED else set()


def write_bounded(cell: NotebookNode, said: Any, seed: int | str) -> ExerciseVerdict | None:
    """Write the verdict that is said of this cell, within bounds; what is none is not written, and None is given."""
    verdict = _verdict(said, cell)
    if verdict is not None:
        verdict.seed = seed
        _write(cell, verdict)
    return verdict


def _write(cell: NotebookNode, verdict: ExerciseVerdict) -> None:
    """The verdict with its report, whose formulas, quoted from the student, make no links."""
    write_verdict(cell, verdict)
    data = cell.outputs[0].data
    data["text/html"] = sanitize_markdown.without_commands(data["text/html"])


def _verdict(said: Any, cell: NotebookNode) -> ExerciseVerdict | None:
    """A judge's verdict on this cell within bounds; None for what is none."""
    try:
        verdict = ExerciseVerdict.from_json(_bounded(said))
        sound = 0 <= verdict.earned <= points_of(cell) + ROUNDING and verdict.exercise == exercise_of(cell)
        return verdict if sound else None  # NaN is none
    except (TypeError, ValueError, KeyError):
        return None


def _bounded(value: Any) -> Any:
    """JSON data with texts and lists of a size for a page."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}… cut"
    if isinstance(value, list):
        return [_bounded(item) for item in value[:MAX_LISTED]]
    return {str(key): _bounded(item) for key, item in value.items()} if isinstance(value, dict) else value
