"""The execute step of `nbgrader autograde`: the learner's cells run in their kernel, the judge decides outside it.

What stands above a grade cell's hidden lines may run in the kernel; the hidden lines never do. A grade cell's outputs
are replaced by ours: the report, then one finite plain float, which is all that nbgrader reads.
"""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.preprocessors import Execute, SaveAutoGrades
from traitlets import Bool, Dict, Enum, Float, Int, Unicode, Union

from grading.cells import RECORD, check_call, exercise_of, grade_id, visible
from grading.judge.exercise import Exercise
from grading.judge.lesson import Lesson, load_lesson
from grading.judge.present import present
from grading.judge.source import Source
from grading.judge.verdict import MIME, ExerciseVerdict, needs_a_person
from grading.sandbox import SandboxUnavailable
from grading.seeds import course_seed, name_of, seed_of

from .notebook_run import NotebookRun
from .session import Limits, Session

SANDBOX = "attention-sandbox"


class JudgedExecute(Execute):
    """Takes the place of nbgrader's Execute in `c.Autograde.autograde_preprocessors`."""

    unsandboxed = Bool(
        False, help="Run student code in an ordinary kernel, which can do all that you can. Marked on every grade."
    ).tag(config=True)
    limits = Dict({}, help="Limits of the sandbox: fields of grading.sandbox.Policy.").tag(config=True)
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

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        name = resources["nbgrader"]["notebook"]
        grade_cells = [cell for cell in nb.cells if is_judged(cell)]
        unreadable = nb.metadata.get(RECORD, {}).get("unreadable")
        if unreadable:
            for cell in grade_cells:
                write_verdict(cell, needs_a_person(exercise_of(cell), points_of(cell), unreadable))
            return nb, resources
        try:
            with _one_thread():
                lesson = load_lesson(self._root() / "grader_tests" / name)
                self._grade(nb, lesson, resources)
        except SandboxUnavailable:
            raise  # nothing is graded without the sandbox, unless that is asked for
        except Exception as error:
            # Ours, not the student's: what has no verdict yet waits for a person, and the batch goes on
            self.log.error("%s could not be judged: %s", name, traceback.format_exc())
            why = f"{type(error).__name__}: {error}"
            for cell in grade_cells:
                if not has_verdict(cell):
                    write_verdict(cell, needs_a_person(exercise_of(cell), points_of(cell), why))
        return nb, resources

    def _grade(self, nb: NotebookNode, lesson: Lesson, resources: ResourcesDict) -> None:
        notes = nb.metadata.setdefault(RECORD, {})
        sandboxed = not self.unsandboxed
        notes.update(sandboxed=sandboxed, device=self._device)
        given, demos = self._own_cells(lesson.name)
        with self._working_directory(lesson.name) as cwd:
            kernel = nb.metadata.get("kernelspec", {}).get("name", "python3")
            provisioner = {"provisioner_name": "local-provisioner", "config": {}}
            if sandboxed:
                config = {"device": self._device, "hidden": [str(self._root())], **self.limits}
                provisioner = {"provisioner_name": SANDBOX, "config": config}
            limits = Limits(cell=float(self.timeout or 30))
            with Session(kernel, provisioner, cwd, limits) as session:
                run = NotebookRun(session, self.notebook_seconds, given)
                judged: list[tuple[Exercise, ExerciseVerdict]] = []
                for cell in nb.cells:
                    if cell.cell_type != "code":
                        continue
                    if is_judged(cell):
                        verdict = self._judge(cell, lesson, run, judged)
                        verdict.sandboxed, verdict.seed = sandboxed, name_of(self._secret)
                        write_verdict(cell, verdict)
                    elif cell.source.strip() not in demos:
                        run.cell(cell)
                    else:
                        cell.outputs, cell.execution_count = [], None

    def _judge(
        self, cell: NotebookNode, lesson: Lesson, run: NotebookRun, judged: list[tuple[Exercise, ExerciseVerdict]]
    ) -> ExerciseVerdict:
        exercise = lesson.exercises.get(exercise_of(cell))
        if exercise is None:
            return needs_a_person(exercise_of(cell), points_of(cell), f"grader_tests/{lesson.name}.py does not have it")
        shown = visible(cell.source).strip()
        if shown != check_call(exercise.name):  # check is for the learner's eyes: what it shows would be replaced
            run.code(shown, given=True)
        source = Source([ran.code for ran in run.cells], lesson.exercises)
        seed = seed_of(self._secret, lesson.name, exercise.name)
        verdict = run.judge(exercise, source, seed=seed, device=self._device, earlier=judged)
        judged.append((exercise, verdict))
        return verdict

    @cached_property
    def _secret(self) -> str:
        return str(self.seed) or course_seed(self._root())

    @cached_property
    def _device(self) -> str:
        if self.device == "cuda" and not torch.cuda.is_available():
            self.log.warning("There is no GPU here: answers are judged on the CPU.")
            return "cpu"
        return str(self.device)

    def _root(self) -> Path:
        converter = getattr(getattr(self, "parent", None), "parent", None)
        return Path(converter.coursedir.root if converter is not None else ".").resolve()

    def _own_cells(self, name: str) -> tuple[set[str], set[str]]:
        """Sources of the lesson's own cells: those that run, and the demonstrations, which do not.

        A picture that the student left as it was need not be drawn again.
        """
        path = self._root() / "source" / name / f"{name}.ipynb"
        if not path.exists():
            return set(), set()
        cells = nbformat.read(path, as_version=4).cells
        own = [c for c in cells if c.cell_type == "code" and not utils.is_solution(c)]
        demos = {c.source.strip() for c in own if "demo" in c.metadata.get("tags", [])}
        return {c.source.strip() for c in own} - demos, demos

    @contextmanager
    def _working_directory(self, name: str) -> Iterator[Path]:
        """An empty directory with the release's support files, never the submission's own."""
        with tempfile.TemporaryDirectory(prefix="grading-") as made:
            release = self._root() / "release" / name
            if release.is_dir():
                shutil.copytree(release, made, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
            yield Path(made)


@contextmanager
def _one_thread() -> Iterator[None]:
    """torch without threads: references are small, and threads that wait for a busy machine take ten times longer."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class SaveVerdicts(SaveAutoGrades):
    """Takes the place of nbgrader's SaveAutoGrades: an exercise that needs a person gets no score, not full marks."""

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        if is_judged(cell) and not has_verdict(cell):
            write_verdict(cell, needs_a_person(exercise_of(cell), points_of(cell), "it was not judged"))
        super()._add_score(cell, resources)
        if is_judged(cell) and verdict_of(cell).status == "needs a person":
            grade = self.gradebook.find_grade(grade_id(cell), self.notebook_id, self.assignment_id, self.student_id)
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()


def is_judged(cell: NotebookNode) -> bool:
    """Whether nbgrader takes this code cell's grade from its output."""
    return cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell)


def points_of(cell: NotebookNode) -> float:
    return float(cell.metadata["nbgrader"]["points"])


def has_verdict(cell: NotebookNode) -> bool:
    return any(MIME in output.get("data", {}) for output in cell.outputs)


def verdict_of(cell: NotebookNode) -> ExerciseVerdict:
    """The verdict in an autograded cell. Raises LookupError where there is none."""
    for output in cell.outputs:
        if MIME in output.get("data", {}):
            return ExerciseVerdict.from_json(output["data"][MIME])
    raise LookupError(f"no verdict in {grade_id(cell)}")


def write_verdict(cell: NotebookNode, verdict: ExerciseVerdict) -> None:
    """Replace a grade cell's outputs by the report and one plain float."""
    shown = present(verdict)
    data: dict[str, Any] = {"text/html": shown.to_html(), "text/plain": shown.to_text(), MIME: verdict.to_json()}
    score = repr(round(float(verdict.earned), 4))
    cell.execution_count = 1
    cell.outputs = [
        new_output("display_data", data=data),
        new_output("execute_result", data={"text/plain": score}, execution_count=1),
    ]
