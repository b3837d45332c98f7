"""Grading of one submission in the judge, from the file's bytes to verdicts.

The judge reads and repairs the notebook and returns a sanitized copy at once. Then it runs the cells in a kernel and
returns each cell's sanitized outputs. Only then does it run hidden cases; from there on it collects nothing that the
kernel writes. It returns each verdict as soon as it exists, so that verdicts survive the end of the judge, and once
more with a practice case for each lost criterion, because the page shows no hidden case (`shown_cases`). nbgrader and
the gradebook are not involved: the request contains the gradebook's data on the lesson.

Does not cover: what a judge may use (`confinement`), its connection (`start_judge`).
"""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.cell_kinds import is_left_out
from grading.course_dir.lesson_change import LessonChange
from grading.course_dir.seeds import seed_of
from grading.errors import NoAnswer
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import Lesson, load_adapted
from grading.grader import codec
from grading.grader.cell_code import parse
from grading.grader.follow_through import Called, find_wrong_calls, name_steps, verdict_that_counts
from grading.grader.references import known_mistakes, practice_cases, programs
from grading.grader.shown_cases import hide_cases, show_cases, show_unanswered, wants_practice
from grading.grader.signs import signs_of
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict, needs_a_person
from grading.notebooks.cells import RECORD, exercise_of, grade_id, visible
from grading.notebooks.verdict_cell import is_autograded, nbgrader_metadata, points_of

from ..notebooks.reading import read_submission
from ..notebooks.released import ReleasedNotebook
from ..notebooks.repair import repair
from ..notebooks.sanitize import OutputBudget, clean, clean_run
from .assert_cells import grade_asserts, has_own_code
from .kernel.dependencies import unbound_names
from .kernel.run import NotebookRun
from .kernel.session import Limits, Session
from .missing_answer import (
    explain_full_cell,
    explain_newer_syntax,
    explain_stop,
    explain_syntax_error,
    find_misnamed_answer,
    unreadable_verdict,
)

SANDBOX = "attention-sandbox"
MAX_HELPERS = 20  # unbound names of an answer that are looked for in unreadable cells
_DRAWS = re.compile(r"\b(?:plt|pyplot|pylab|matplotlib|figures|sliders|interactive)\b")


def warm(about: dict[str, Any]) -> None:
    """Compute once what all submissions of a lesson need.

    about  `graders`: the lesson's folder; `change`: what the course changes in it; `seed`: the lesson's; `device`: the
           one that answers are graded on; `mistaken`: exercises whose known mistakes are needed
    """
    _rehearse()
    torch.set_num_threads(1)  # references are small; on a busy machine, more threads take ten times longer
    graders = Path(about["graders"])
    for cell in _lesson_code_cells(graders.parents[1], graders.name):
        parse("".join(cell["source"]))  # cached: most cells of a student's notebook are these
    lesson = _lesson(about)
    for exercise in lesson.exercises.values():
        seed = seed_of(about["seed"], exercise.name)
        codec.request(programs(exercise, seed, about["device"]))
        if exercise.name in about["mistaken"]:
            known_mistakes(exercise, seed)
            practice_cases(exercise)


@lru_cache(maxsize=1)
def _rehearse() -> None:
    """Trigger the lazy set-up of libraries, which is a fifth of a judge's time."""
    nb = new_notebook(cells=[new_markdown_cell("*a* $b$"), new_code_cell("1")])
    nb.cells[1].outputs = [new_output("stream", text="1"), new_output("display_data", data={"text/html": "<b>1</b>"})]
    clean(nb)
    for name in ("grading.judge.confinement", "grading.sandbox.provisioner"):
        with suppress(ImportError):  # only Linux has the sandbox
            import_module(name)
    KernelProvisionerFactory.instance()
    _ = KernelManager(kernel_name="python3").kernel_spec


@dataclass
class CourseFiles:
    """Files and texts of the course, not of the student.

    directory  the kernel's files, from the release, never from the submission
    given      the lesson's own cells that run
    left_out   the lesson's own cells that do not, because no answer depends on them
    """

    directory: Path
    given: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)


def prepare(request: dict[str, Any], place: Path) -> CourseFiles:
    """Copy the course's files into `place` while the judge may still read them."""
    root, name = Path(request["root"]), request["lesson"]
    ready = CourseFiles(place / "files")
    release = root / "release" / name
    if release.is_dir():
        shutil.copytree(release, ready.directory, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    else:
        ready.directory.mkdir()
    ready.directory.chmod(0o755)
    for cell in _lesson_code_cells(root, name):
        if not nbgrader_metadata(cell).get("solution"):
            source = "".join(cell["source"]).strip()
            (ready.left_out if is_left_out(cell["metadata"], source) else ready.given).add(source)
    ready.given -= ready.left_out
    return ready


def _lesson_code_cells(root: Path, name: str) -> list[dict[str, Any]]:
    """Code cells of the lesson's source; none if it is not there."""
    lesson = root / "source" / name / f"{name}.ipynb"
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"] if lesson.exists() else []
    return [cell for cell in cells if cell["cell_type"] == "code"]


def run(request: dict[str, Any], data: bytes, ready: CourseFiles) -> Iterator[dict[str, Any]]:
    """Grade a submission and yield messages.

    First {"notebook": …}, then for each code cell {"cell": its id}, with "outputs" and "count", or with "verdict".

    request  `root`, `lesson`; `graders`, `change`, `seed`, `device`, `sandboxed`; `level` and `limits` of the sandbox,
             `cell_seconds` and `notebook_seconds`; `released`: the lesson as it was released, as JSON;
             `earlier_releases`: checksums of its cells in earlier ones
    """
    released = ReleasedNotebook.from_json(request["released"])
    nb = read_submission(data)
    repair(nb, released, request.get("earlier_releases", ()))
    cells = [copy.copy(cell) for cell in nb.cells if cell.cell_type == "code"]  # unsanitized, to be run
    budget = OutputBudget()
    clean(nb, {cell.source for cell in released.order if cell.cell_type == "markdown"}, budget)
    yield {"notebook": nb}
    if "unreadable" not in nb.metadata[RECORD]:
        yield from _grade_cells(request, cells, ready, budget)


def _grade_cells(
    request: dict[str, Any], cells: list[NotebookNode], ready: CourseFiles, budget: OutputBudget
) -> Iterator[dict[str, Any]]:
    lesson = _lesson(request)
    provisioning: dict[str, Any] = {"provisioner_name": "local-provisioner", "config": {}}
    if request["sandboxed"]:
        about = {"device": request["device"], "hidden": [request["root"]], "lesson": request["lesson"]}
        about["level"] = request["level"]
        config = {**about, "draws": likely_to_draw(cells, ready), **request["limits"]}
        provisioning = {"provisioner_name": SANDBOX, "config": config}
    # A sandboxed kernel does not use its spec, and the user's own specs are not visible there
    kernel = "python3" if request["sandboxed"] else request["released"]["kernelspec"].get("name", "python3")
    with Session(kernel, provisioning, ready.directory, Limits(cell=request["cell_seconds"])) as session:
        run = NotebookRun(session, request["notebook_seconds"], ready.given)
        by_asserts: dict[str, ExerciseVerdict] = {}
        for cell in cells:
            if is_autograded(cell):
                if verdict := _reach_grade_cell(cell, lesson, run):
                    by_asserts[cell.id] = verdict
            elif cell.source.strip() not in ready.left_out:
                run.cell(cell)
                clean_run(cell, budget)
                yield {"cell": cell.id, "outputs": cell.outputs, "count": cell.execution_count}
        # From here on nobody collects what the kernel writes
        for cell_id, verdict in by_asserts.items():
            yield {"cell": cell_id, "verdict": verdict.to_json()}
        grading = _Grading(request, lesson, run, {grade_id(cell): cell.source for cell in cells})
        graded: list[tuple[NotebookNode, ExerciseVerdict]] = []
        for cell, verdict in grading.grade([c for c in cells if is_autograded(c) and c.id not in by_asserts]):
            graded.append((cell, verdict))
            yield {"cell": cell.id, "verdict": verdict.to_json()}
        for cell, verdict in graded:
            if grading.show_practice(verdict):
                yield {"cell": cell.id, "verdict": verdict.to_json()}


def likely_to_draw(cells: list[NotebookNode], ready: CourseFiles) -> bool:
    """Whether a cell that the student wrote or changed mentions plotting."""
    own = (cell.source for cell in cells if cell.source.strip() not in ready.given | ready.left_out)
    return any(map(_DRAWS.search, own))


def _lesson(about: dict[str, Any]) -> Lesson:
    """Load the lesson with the course's changes; an assignment without graders has no exercises."""
    graders = Path(about["graders"])
    if not graders.is_dir():
        return Lesson(graders.name, {})
    return load_adapted(graders, LessonChange.from_json(about["change"]))


def _reach_grade_cell(cell: NotebookNode, lesson: Lesson, run: NotebookRun) -> ExerciseVerdict | None:
    """Run the visible part of a grade cell, and keep the names for its exercise.

    A cell that has its own tests and no graders is run whole and graded at once.
    """
    name = exercise_of(cell)
    if name in lesson.exercises:
        if has_own_code(cell):  # the verdict replaces whatever `check` shows
            run.code(visible(cell.source).strip(), given=True)
        run.keep_names(name)
    elif has_own_code(cell):
        outputs, _ = run.code(cell.source, given=True)
        return grade_asserts(cell, run.cells[-1], outputs)
    return None


class _Grading:
    """The exercises of one notebook, graded after its cells have run.

    All are judged as they are before any is judged with a right answer in place of an earlier one (`follow_through`).
    That goes in the lesson's order, each in a kernel that ends with it: what one has kept is of no use to another.
    """

    def __init__(
        self, request: dict[str, Any], lesson: Lesson, run: NotebookRun, written: Mapping[str, str] | None = None
    ) -> None:
        """written: code of the cells by their grade_id."""
        self._request, self._lesson, self._run, self._written = request, lesson, run, written or {}
        released = ReleasedNotebook.from_json(request["released"]).marked
        self._stubs = {name: marked.visible for name, marked in released.items() if marked.solution}
        self._verdicts: dict[str, ExerciseVerdict] = {}
        self._steps: dict[tuple[str, str], ExerciseVerdict] = {}  # of (exercise that calls it, step)
        self._above: dict[str, set[str]] = {}  # exercise -> those whose grade cells come before its own
        self._aliases: dict[str, str] = {}
        self._sources: dict[tuple[str, str], NotebookSource] = {}  # of (exercise, alias)

    def grade(self, cells: list[NotebookNode]) -> Iterator[tuple[NotebookNode, ExerciseVerdict]]:
        """The verdict on each grade cell, as soon as it is final; none describes hidden cases."""
        left: list[tuple[NotebookNode, Exercise]] = []
        for cell in cells:
            exercise = self._lesson.exercises.get(exercise_of(cell))
            if exercise is None:
                why = f"grader_tests/{self._lesson.name} does not have it"
                yield cell, needs_a_person(exercise_of(cell), points_of(cell), why)
                continue
            self._above[exercise.name] = set(self._verdicts)
            self._judge(exercise)
            if self._called(exercise).replaced:
                left.append((cell, exercise))
            else:
                yield cell, self._finished(exercise)
        order = list(self._lesson.exercises)
        for cell, exercise in sorted(left, key=lambda one: order.index(one[1].name)):
            verdict, called = self._verdicts[exercise.name], self._called(exercise)
            if called.replaced:
                again = self._run.follow_through(
                    exercise,
                    self._source(exercise),
                    called.replaced,
                    self._aliases.get(exercise.name, ""),
                    **self._settings(exercise),
                )
                self._verdicts[exercise.name] = verdict_that_counts(verdict, again, called)
            yield cell, self._finished(exercise)

    def show_practice(self, verdict: ExerciseVerdict) -> bool:
        """Show practice cases with the verdict's findings; returns whether it did."""
        exercise = self._lesson.exercises.get(verdict.exercise)
        if exercise is None or not wants_practice(verdict):
            return False
        cases, alias = practice_cases(exercise), self._aliases.get(exercise.name, "")
        asked = [(p.program(exercise.forbidden, self._request["device"]), p.case.seconds) for p in cases]
        try:
            seen = self._run.practise(exercise.name, self._source(exercise), asked, alias)
        except NoAnswer as error:
            show_unanswered(verdict, str(error))
            return True
        show_cases(verdict, exercise, cases, seen, self._request["device"])
        return True

    def _judge(self, exercise: Exercise) -> None:
        """Judge an answer as it is, also if its name is a little different."""
        settings = self._settings(exercise)
        verdict = self._verdicts[exercise.name] = self._run.judge(exercise, self._source(exercise), **settings)
        if verdict.status != "not started" or self._called(exercise).any:
            return
        if alias := find_misnamed_answer(self._own_code(exercise), exercise.name, self._lesson.exercises):
            self._aliases[exercise.name] = alias
            self._verdicts[exercise.name] = self._run.judge(exercise, self._source(exercise), alias, **settings)

    def _called(self, exercise: Exercise) -> Called:
        verdict, source = self._verdicts[exercise.name], self._source(exercise)
        return find_wrong_calls(exercise, verdict, source, self._others(exercise, source))

    def _others(self, exercise: Exercise, source: NotebookSource) -> Iterator[tuple[Exercise, ExerciseVerdict]]:
        """The lesson's other exercises, not started if they come further down in the notebook, and steps."""
        for name, other in self._lesson.exercises.items():
            there = name in self._above[exercise.name]
            yield other, self._verdicts[name] if there else ExerciseVerdict(name, other.points, 0.0, "not started")
        for name in self._lesson.steps.keys() & source.names_used(exercise.name):
            step, key = self._lesson.steps[name], (exercise.name, name)
            if key not in self._steps:
                self._steps[key] = self._run.judge(step, source, at=exercise.name, **self._settings(step))
            yield step, self._steps[key]

    def _finished(self, exercise: Exercise) -> ExerciseVerdict:
        """An exercise's verdict without hidden cases, and with what is to be said besides."""
        source, verdict = self._source(exercise), self._verdicts[exercise.name]
        hide_cases(verdict, source.not_allowed(exercise.name, exercise.forbidden))
        verdict = self._explained(exercise, verdict)
        verdict.signs += signs_of(source, exercise.name)
        verdict.sandboxed = self._request["sandboxed"]
        return verdict

    def _explained(self, exercise: Exercise, verdict: ExerciseVerdict) -> ExerciseVerdict:
        own, called = self._own_code(exercise), self._called(exercise)
        if alias := self._aliases.get(exercise.name):
            verdict.notes.append(f"Your answer is called `{alias}`, and was judged as `{exercise.name}`: rename it.")
        elif verdict.status == "not started":
            if newer := explain_newer_syntax(own, exercise.name):
                return needs_a_person(exercise.name, exercise.points, newer)
            name = exercise.name
            if why := explain_syntax_error(own, name) or explain_full_cell(
                self._written.get(name, ""), self._stubs.get(name, ""), name
            ):
                return unreadable_verdict(verdict, why)
        elif verdict.status in ("wrong", "partly right"):
            for helper in unbound_names(self._source(exercise), exercise.name)[:MAX_HELPERS]:
                if newer := explain_newer_syntax(own, helper):
                    return needs_a_person(exercise.name, exercise.points, newer)
                if why := explain_syntax_error(own, helper):
                    verdict.explanation, verdict.advice = why, ""
        name_steps(verdict, called)
        if stopped := self._run.why_stopped(exercise.name, self._source(exercise)):
            verdict.notes.append(explain_stop(exercise.name, *stopped))
        return verdict

    def _settings(self, exercise: Exercise) -> dict[str, Any]:
        return {"seed": seed_of(self._request["seed"], exercise.name), "device": self._request["device"]}

    def _own_code(self, exercise: Exercise) -> list[str]:
        return [cell.code for cell in self._run.cells_above(exercise.name) if not cell.from_lesson]

    def _source(self, exercise: Exercise) -> NotebookSource:
        """The code above the exercise's grade cell."""
        key = exercise.name, self._aliases.get(exercise.name, "")
        if key not in self._sources:
            codes = [cell.code for cell in self._run.cells_above(exercise.name)]
            codes += [" = ".join(key)] if key[1] else []
            self._sources[key] = NotebookSource(codes, self._lesson.exercises)
        return self._sources[key]
