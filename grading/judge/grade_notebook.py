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
import math
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
from grading.course_dir.seeds import seed_of
from grading.errors import NoAnswer
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import Lesson, load_adapted
from grading.grader import codec
from grading.grader.cell_code import parse, same_code
from grading.grader.follow_through import Called, find_wrong_calls, name_steps, verdict_that_counts
from grading.grader.references import known_mistakes, practice_cases, programs
from grading.grader.shown_cases import hide_cases, show_cases, show_unanswered, wants_practice
from grading.grader.signs import signs_of
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict, needs_a_person
from grading.notebooks.cells import HIDDEN, RECORD, check_call, exercise_of, grade_id, visible
from grading.notebooks.verdict_cell import is_autograded, nbgrader_metadata, points_of
from grading.safe_text import one_line

from ..notebooks.reading import read_submission
from ..notebooks.repair import repair
from ..notebooks.sanitize import OutputBudget, clean, clean_run
from .job import GradedLesson, GradeRequest
from .kernel.dependencies import ExecutedCell, unbound_names
from .kernel.outputs import code_lines
from .kernel.run import NotebookRun
from .kernel.session import Limits, Session
from .messages import CellOutputs, CellVerdict, SanitizedNotebook
from .missing_answer import (
    explain_full_cell,
    explain_newer_syntax,
    explain_stop,
    explain_syntax_error,
    find_misnamed_answer,
    unreadable_verdict,
)

Message = SanitizedNotebook | CellOutputs | CellVerdict
SANDBOX = "attention-sandbox"
MAX_HELPERS = 20  # unbound names of an answer that are looked for in unreadable cells
TEST_FAILED = "The test failed at `{line}`: {why}."
HIDDEN_TEST_FAILED = "A hidden test failed."
_DRAWS = re.compile(r"\b(?:plt|pyplot|pylab|matplotlib|figures|sliders|interactive)\b")


def warm(lesson: GradedLesson) -> None:
    """Compute once what all submissions of a lesson need."""
    _rehearse()
    torch.set_num_threads(1)  # references are small; on a busy machine, more threads take ten times longer
    for cell in _lesson_code_cells(lesson):
        parse("".join(cell["source"]))  # cached: most cells of a student's notebook are these
    for exercise in _load(lesson).exercises.values():
        seed = seed_of(lesson.seed, exercise.name)
        codec.request(programs(exercise, seed, lesson.device))
        if exercise.name in lesson.mistaken:
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


def prepare(request: GradeRequest, place: Path) -> CourseFiles:
    """Copy the course's files into `place` while the judge may still read them."""
    ready = CourseFiles(place / "files")
    release = request.lesson.root / "release" / request.lesson.name
    if release.is_dir():
        shutil.copytree(release, ready.directory, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    else:
        ready.directory.mkdir()
    ready.directory.chmod(0o755)
    for cell in _lesson_code_cells(request.lesson):
        if not nbgrader_metadata(cell).get("solution"):
            source = "".join(cell["source"]).strip()
            (ready.left_out if is_left_out(cell["metadata"], source) else ready.given).add(source)
    ready.given -= ready.left_out
    return ready


def _lesson_code_cells(lesson: GradedLesson) -> list[dict[str, Any]]:
    """Code cells of the lesson's source; none if it is not there."""
    file = lesson.root / "source" / lesson.name / f"{lesson.name}.ipynb"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"] if file.exists() else []
    return [cell for cell in cells if cell["cell_type"] == "code"]


def run(request: GradeRequest, data: bytes, ready: CourseFiles) -> Iterator[Message]:
    """Grade a submission and yield messages: first its notebook, then of each code cell the outputs or verdicts."""
    nb = read_submission(data)
    repair(nb, request.released, request.earlier_releases)
    cells = [copy.copy(cell) for cell in nb.cells if cell.cell_type == "code"]  # unsanitized, to be run
    budget = OutputBudget()
    clean(nb, {cell.source for cell in request.released.order if cell.cell_type == "markdown"}, budget)
    yield SanitizedNotebook(nb)
    if "unreadable" not in nb.metadata[RECORD]:
        yield from _grade_cells(request, cells, ready, budget)


def _grade_cells(
    request: GradeRequest, cells: list[NotebookNode], ready: CourseFiles, budget: OutputBudget
) -> Iterator[Message]:
    lesson = _load(request.lesson)
    kernel, provisioning = request.released.kernelspec.get("name", "python3"), {"provisioner_name": "local-provisioner"}
    config: dict[str, Any] = {}
    if request.sandboxed:
        # A sandboxed kernel does not use its spec, and the user's own specs are not visible there
        kernel, provisioning = "python3", {"provisioner_name": SANDBOX}
        config = {"hidden": [str(request.lesson.root)], "lesson": request.lesson.name, "level": request.level}
        config |= {"device": request.lesson.device, "draws": likely_to_draw(cells, ready), **request.limits}
    limits = Limits(cell=request.cell_seconds)
    with Session(kernel, {**provisioning, "config": config}, ready.directory, limits) as session:
        run = NotebookRun(session, request.notebook_seconds, ready.given)
        by_asserts: dict[str, ExerciseVerdict] = {}
        for cell in cells:
            if is_autograded(cell):
                if verdict := _reach_grade_cell(cell, lesson, run):
                    by_asserts[cell.id] = verdict
            elif cell.source.strip() not in ready.left_out:
                run.cell(cell)
                clean_run(cell, budget)
                yield CellOutputs(cell.id, cell.outputs, cell.execution_count)
        # From here on nobody collects what the kernel writes
        for cell_id, verdict in by_asserts.items():
            yield CellVerdict(cell_id, verdict.to_json())
        grading = _Grading(request, lesson, run, {grade_id(cell): cell.source for cell in cells})
        graded: list[tuple[NotebookNode, ExerciseVerdict]] = []
        for cell, verdict in grading.grade([c for c in cells if is_autograded(c) and c.id not in by_asserts]):
            graded.append((cell, verdict))
            yield CellVerdict(cell.id, verdict.to_json())
        for cell, verdict in graded:
            if grading.show_practice(verdict):
                yield CellVerdict(cell.id, verdict.to_json())


def likely_to_draw(cells: list[NotebookNode], ready: CourseFiles) -> bool:
    """Whether a cell that the student wrote or changed mentions plotting."""
    own = (cell.source for cell in cells if cell.source.strip() not in ready.given | ready.left_out)
    return any(map(_DRAWS.search, own))


def _load(lesson: GradedLesson) -> Lesson:
    """Load the lesson with the course's changes; an assignment without graders has no exercises."""
    return load_adapted(lesson.graders, lesson.change) if lesson.graders.is_dir() else Lesson(lesson.name, {})


def _reach_grade_cell(cell: NotebookNode, lesson: Lesson, run: NotebookRun) -> ExerciseVerdict | None:
    """Run the visible part of a grade cell, and keep the names for its exercise.

    A cell that has its own tests and no graders is run whole and graded at once.
    """
    name = exercise_of(cell)
    if name in lesson.exercises:
        if _has_own_code(cell):  # the verdict replaces whatever `check` shows
            run.code(visible(cell.source).strip(), given=True)
        run.keep_names(name)
    elif _has_own_code(cell):
        outputs, _ = run.code(cell.source, given=True)
        return _grade_asserts(cell, run.cells[-1], outputs)
    return None


def _has_own_code(cell: NotebookNode) -> bool:
    """Whether a grade cell has its own tests, rather than a call of `check`."""
    return not same_code(visible(cell.source).strip(), check_call(exercise_of(cell)))


def _grade_asserts(cell: NotebookNode, ran: ExecutedCell, outputs: list[NotebookNode]) -> ExerciseVerdict:
    """The verdict of a grade cell's own tests, without naming hidden ones.

    nbgrader's rule: no points if the cell raises an exception, else the number that its last expression gives, else all
    points. Output on stderr costs nothing here.
    """
    name, points = exercise_of(cell), points_of(cell)
    if not ran.completed:
        return needs_a_person(name, points, f"the test did not end: {ran.stop.why if ran.stop else 'it was not run'}")
    if ran.stop is not None:
        line = _shown_line(cell.source, ran.stop.line)
        reason = one_line(ran.stop.why).rstrip(". :")  # `AssertionError: ` has no text
        why = TEST_FAILED.format(line=line.replace("`", "'"), why=reason) if line else HIDDEN_TEST_FAILED
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


class _Grading:
    """The exercises of one notebook, graded after its cells have run.

    All are judged as they are before any is judged with a right answer in place of an earlier one (`follow_through`).
    That goes in the lesson's order, each in a kernel that ends with it: what one has kept is of no use to another.
    """

    def __init__(
        self, request: GradeRequest, lesson: Lesson, run: NotebookRun, written: Mapping[str, str] | None = None
    ) -> None:
        """written: code of the cells by their grade_id."""
        self._request, self._lesson, self._run, self._written = request, lesson, run, written or {}
        marked = request.released.marked
        self._stubs = {name: cell.visible for name, cell in marked.items() if cell.solution}
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
            self._grade_as_it_is(exercise)
            if self._called(exercise).replaced:
                left.append((cell, exercise))
            else:
                yield cell, self._finish(exercise)
        order = list(self._lesson.exercises)
        for cell, exercise in sorted(left, key=lambda graded: order.index(graded[1].name)):
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
            yield cell, self._finish(exercise)

    def show_practice(self, verdict: ExerciseVerdict) -> bool:
        """Show practice cases with the verdict's findings; returns whether it did."""
        exercise = self._lesson.exercises.get(verdict.exercise)
        if exercise is None or not wants_practice(verdict):
            return False
        cases, alias = practice_cases(exercise), self._aliases.get(exercise.name, "")
        device = self._request.lesson.device
        calls = [(p.program(exercise.forbidden, device), p.case.seconds) for p in cases]
        try:
            seen = self._run.practise(exercise.name, self._source(exercise), calls, alias)
        except NoAnswer as error:
            show_unanswered(verdict, str(error))
            return True
        show_cases(verdict, exercise, cases, seen, device)
        return True

    def _grade_as_it_is(self, exercise: Exercise) -> None:
        """Grade an answer as it is, also if its name is a little different."""
        settings = self._settings(exercise)
        verdict = self._verdicts[exercise.name] = self._run.grade(exercise, self._source(exercise), **settings)
        if verdict.status != "not started" or self._called(exercise).any:
            return
        if alias := find_misnamed_answer(self._own_code(exercise), exercise.name, self._lesson.exercises):
            self._aliases[exercise.name] = alias
            self._verdicts[exercise.name] = self._run.grade(exercise, self._source(exercise), alias, **settings)

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
                self._steps[key] = self._run.grade(step, source, at=exercise.name, **self._settings(step))
            yield step, self._steps[key]

    def _finish(self, exercise: Exercise) -> ExerciseVerdict:
        """An exercise's verdict without hidden cases, and with what is to be said besides."""
        source, verdict = self._source(exercise), self._verdicts[exercise.name]
        hide_cases(verdict, source.not_allowed(exercise.name, exercise.forbidden))
        verdict = self._explain(exercise, verdict)
        verdict.signs += signs_of(source, exercise.name)
        verdict.sandboxed = self._request.sandboxed
        return verdict

    def _explain(self, exercise: Exercise, verdict: ExerciseVerdict) -> ExerciseVerdict:
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
        lesson = self._request.lesson
        return {"seed": seed_of(lesson.seed, exercise.name), "device": lesson.device}

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
