"""The execute step of `nbgrader autograde`, as the coordinator does it: a judge's verdicts are waited for and saved.

Nothing runs here, and nothing that a student wrote is read: of each cell a judge hands back its outputs, cleaned, or
its verdict (`grading.judging.submission`). A grade cell's outputs are ours, made from the verdict: the report, then
one finite plain float, which is all that nbgrader reads. A judge that ran over leaves what has no verdict to a person;
one that was lost by our fault leaves the submission ungraded, as an error that nbgrader tells, and the batch goes on.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute, SaveAutoGrades
from traitlets import Bool, Dict, Enum, Float, Int, Unicode, Union

from grading.cells import RECORD, exercise_of, grade_id
from grading.judge.graded import has_verdict, is_judged, points_of, verdict_of, write_verdict
from grading.judge.verdict import ExerciseVerdict, needs_a_person
from grading.judging.client import GRADERS, POLICY, RanOver, Work
from grading.judging.notebook import markdown
from grading.judging.notebook.released import ReleasedNotebook
from grading.sandbox.policy import Policy, describe
from grading.seeds import course_seed, lesson_seed, name_of

PATIENCE = 10  # times that a judge's wait for its kernel and its own work may take by the clock on the wall
ROUNDING = 1e-6  # of a sum of points
MAX_TEXT = 20_000  # characters of a verdict's sentence
MAX_LISTED = 100  # criteria, notes and names of a verdict
DIAGNOSED = ("partly right", "wrong", "not allowed")  # verdicts for which the known mistakes are looked at
diagnosed: defaultdict[str, set[str]] = defaultdict(set)
"""Folders of graders, with the exercises in which an answer was wrong: the next judges find their mistakes ready."""


class JudgedExecute(Execute):
    """Takes the place of nbgrader's Execute in `c.Autograde.autograde_preprocessors`."""

    unsandboxed = Bool(
        False, help="Run student code in an ordinary kernel, which can do all that you can. Marked on every grade."
    ).tag(config=True)
    limits = Dict({}, help="Limits of the sandbox: fields of grading.sandbox.Policy.").tag(config=True)
    judge_limits = Dict({}, help="Limits of the judge of a notebook: fields of grading.sandbox.Policy.").tag(
        config=True
    )
    seed = Union(
        [Unicode(), Int()],
        default_value="",
        help="Seed of the hidden cases, long and secret; none: the course's own, in .grading-seed.",
    ).tag(config=True)
    device = Enum(
        ("cpu", "cuda"), "cpu", help='Device that answers are judged on. "cuda": the CPU where there is no GPU.'
    ).tag(config=True)
    notebook_seconds = Float(300.0, help="Time for one notebook, all cells and calls: that of a `Stopwatch`.").tag(
        config=True
    )

    def work(self, lesson: str, released: ReleasedNotebook | None = None) -> Work:
        """What a judge of one submission is to do; without `released`, what is to be made ready for many."""
        root, policy = self._root(), Policy(**{**describe(POLICY), **self.judge_limits})
        graders = str(root / GRADERS / lesson)
        seed = lesson_seed(self._secret, lesson)
        about = {"graders": graders, "seed": seed, "mistaken": sorted(diagnosed[graders])}
        request = {
            "root": str(root),
            "lesson": lesson,
            "graders": graders,
            "seed": seed,
            "device": self._device,
            "sandboxed": not self.unsandboxed,
            "limits": dict(self.limits),
            "cell_seconds": float(self.timeout or 30),
            "notebook_seconds": self.notebook_seconds,
            "released": released.to_json() if released else None,
        }
        wall = PATIENCE * (self.notebook_seconds + policy.cpu_seconds)
        sandboxed = not self.unsandboxed
        return Work("submission", root, request, about, sandboxed, sandboxed, policy, wall)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Fill in what the exporter's judge hands back. Raises NotGraded, SandboxUnavailable."""
        record = nb.metadata.setdefault(RECORD, {})
        why = record.get("unreadable", "")
        if not why:
            record.update(sandboxed=not self.unsandboxed, device=self._device)
            cells = {cell.id: cell for cell in nb.cells if cell.cell_type == "code"}
            why = self._judged(cells, diagnosed[str(self._root() / GRADERS / resources["nbgrader"]["notebook"])])
        for cell in nb.cells:
            if is_judged(cell) and not has_verdict(cell):
                _write(cell, needs_a_person(exercise_of(cell), points_of(cell), why, sandboxed=not self.unsandboxed))
        return nb, resources

    def _judged(self, cells: dict[str, NotebookNode], wrong: set[str]) -> str:
        """Take what the judge says of these cells, by their ids; add to `wrong`; why one may be without a verdict."""
        judge = getattr(self.parent, "judge", None)
        if judge is None:
            return "it was not judged"
        try:
            for message in judge.messages():
                cell = cells.get(message.get("cell", ""))
                if cell is not None:
                    wrong |= _take(cell, message, name_of(self._secret))
        except RanOver as error:
            self.log.error("The judge %s: what it had not judged is left to a person.", error)
            return f"the judge {error}"
        finally:
            self.parent.let_go()
        return "it was not judged"

    @cached_property
    def _secret(self) -> str:
        return str(self.seed) or course_seed(self._root())

    @cached_property
    def _device(self) -> str:
        if self.device == "cuda":
            import torch  # slow to import, and of no other use here

            if not torch.cuda.is_available():
                self.log.warning("There is no GPU here: answers are judged on the CPU.")
                return "cpu"
        return str(self.device)

    def _root(self) -> Path:
        converter = getattr(getattr(self, "parent", None), "parent", None)
        return Path(converter.coursedir.root if converter is not None else ".").resolve()


class SaveVerdicts(SaveAutoGrades):
    """Takes the place of nbgrader's SaveAutoGrades: an exercise that needs a person gets no score, not full marks."""

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        if is_judged(cell) and not has_verdict(cell):
            _write(cell, needs_a_person(exercise_of(cell), points_of(cell), "it was not judged"))
        super()._add_score(cell, resources)
        if is_judged(cell) and verdict_of(cell).status == "needs a person":
            grade = self.gradebook.find_grade(grade_id(cell), self.notebook_id, self.assignment_id, self.student_id)
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()


def _take(cell: NotebookNode, message: dict[str, Any], seed: str) -> set[str]:
    """Fill a cell in; the exercise, where its known mistakes were looked at. seed: the name of the course's secret."""
    if not is_judged(cell):
        cell.outputs = [nbformat.from_dict(output) for output in message["outputs"]]
        cell.execution_count = message["count"]
        return set()
    verdict = _verdict(message.get("verdict"), cell)
    if verdict is None:
        return set()
    verdict.seed = seed
    _write(cell, verdict)
    return {verdict.exercise} if verdict.status in DIAGNOSED else set()


def _write(cell: NotebookNode, verdict: ExerciseVerdict) -> None:
    """The verdict with its report, whose formulas, quoted from the student, make no links."""
    write_verdict(cell, verdict)
    data = cell.outputs[0].data
    data["text/html"] = markdown.without_commands(data["text/html"])


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
