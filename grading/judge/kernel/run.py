"""One notebook run and graded in a kernel that student code may break.

First all cells run, in order, and their outputs are collected. Only then do hidden cases run, so that an answer cannot
show them in any output. At each grade cell the kernel keeps the notebook's names, and restores them before that
exercise is graded. Part of the notebook's time is reserved for the answers.

An answer is graded in the kernel in which all cells have run. If it loses points there and the kernel has ended or
changed its state, or a later cell may have changed data that the answer reads, it is graded once more, *apart*: in a
fresh kernel that has run only the code that the answer needs (`dependencies`). The better verdict counts. Once the
kernel of the cells has ended, all further answers are graded apart. So code that ends or spoils a kernel costs only its
own exercise. Restarts per exercise and time per notebook are limited; if the time runs out before an answer is graded,
it needs a person.
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator
from functools import partial
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.harness.program import Observation, Program
from grading.errors import KernelDied, NoAnswer
from grading.exercises.exercise import Exercise
from grading.grader.grade_exercise import grade_exercise
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict, needs_a_person

from .dependencies import (
    STAR,
    ExecutedCell,
    cells_needed,
    may_be_changed,
    names_needed,
    stopped_cells,
    unbound_names,
)
from .outputs import Stop
from .session import Session

MAX_RESTARTS = 8  # per exercise
NO_MEMORY = "can't allocate memory"  # from torch's allocator, in a RuntimeError
STATE_SECONDS = 5.0
ANSWERING_SECONDS = 2.0  # within which a working kernel answers
# What calls depend on besides the notebook's names: which of those are missing (or were filled in by `begin`), torch's
# settings and a product, the module search, whether the standard descriptors are open, the limits of the process, and
# which names of torch and of the course the notebook has replaced
STATE = """(lambda names, torch, os, sys, builtins, resource: str((
    [n for n in {names!r} if n not in names or getattr(names[n], "__module__", "") == "course.notebook.stand_ins"],
    torch.get_default_dtype(), torch.ones(2, 3) @ torch.ones(3, 1), torch.ones(1).device,
    torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.are_deterministic_algorithms_enabled(),
    sys.path, sys.meta_path, len(sys.path_hooks), sys.getrecursionlimit(), os.getcwd(),
    [os.fstat(descriptor).st_mode for descriptor in range(3)],
    [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")],
    [name for place in (builtins, torch, torch.Tensor, torch.nn, torch.nn.functional,
                        *(module for key, module in sys.modules.items() if key.startswith("course.")))
     for name, value in vars(place).items() if getattr(value, "__module__", "") == "__main__"],
)))(__import__("IPython").get_ipython().user_ns, *map(__import__, ("torch", "os", "sys", "builtins", "resource")))"""

KEPT_NAMES = "__import__('course.harness.kept_names', fromlist=['keep'])"
FOR_CELLS = 2 / 3  # share of the notebook's time that its cells may take

Programs = list[tuple[Program, float]]  # each with its time limit in seconds
Answers = Iterator[Observation | NoAnswer]


class NotebookRun:
    """One notebook in its kernel. given: texts of the lesson's cells, stripped."""

    def __init__(self, session: Session, seconds: float, given: Container[str] = ()) -> None:
        self.session, self.given = session, given
        self.cells: list[ExecutedCell] = []
        self._cells_until = session.spent + seconds * FOR_CELLS
        self._until = session.spent + seconds
        self._reached: dict[str, int] = {}  # exercise -> number of cells above its grade cell
        self._kept: set[str] = set()  # exercises whose names the current kernel keeps
        self._whole = True  # whether all cells so far, except endless ones, have run in the current kernel
        self._asked = False  # whether hidden cases have run in the current kernel
        self._replayed: list[str] = []  # what was run to start the current kernel, if it is not whole
        self._restarts = 0
        self._fresh_state = self._state([])

    def cell(self, cell: NotebookNode) -> None:
        """Run a student's cell and replace its outputs."""
        cell.outputs, cell.execution_count = self.code(cell.source, cell.source.strip() in self.given)

    def code(self, code: str, given: bool = False) -> tuple[list[NotebookNode], int | None]:
        """Run code as a cell; return its outputs and execution count."""
        cell = ExecutedCell(code, given)
        try:
            if code.strip():
                self._revive()
                ran = self.session.run(code, self._at_most(self.session.limits.cell, self._cells_until))
                cell.completed, cell.stop = not ran.note, ran.stop or (Stop(0, ran.note) if ran.note else None)
                return ran.outputs + ([_notice(f"This cell was {ran.note}.")] if ran.note else []), ran.count
        except (KernelDied, NoAnswer) as error:
            cell.completed, cell.stop = False, Stop(0, str(error))
            return [_notice(f"This cell was not finished: {error}.")], None
        finally:
            self.cells.append(cell)
        return [], None

    def keep_names(self, exercise: str) -> None:
        """Keep the notebook's names as they are now; call it at the exercise's grade cell."""
        self._reached[exercise] = len(self.cells)
        self._keep(len(self.cells))

    def cells_above(self, exercise: str) -> list[ExecutedCell]:
        """The cells above an exercise's grade cell. Raises KeyError before that is reached."""
        return self.cells[: self._reached[exercise]]

    def grade(
        self, exercise: Exercise, source: NotebookSource, alias: str = "", at: str = "", **settings: Any
    ) -> ExerciseVerdict:
        """Grade the answer as it was at its grade cell. Call it after all cells have run.

        alias: the name of the answer, if it is not the exercise's. at: the exercise at whose grade cell a step is
        judged, which has none. `settings` are passed to `grade_exercise`.
        """
        self._restarts, at = 0, at or exercise.name
        self._reached[exercise.name] = self._reached[at]
        names, verdict = names_needed(source, exercise.name), None
        if self._whole and self.session.alive and at in self._kept:
            ask = partial(self._ask_whole, f"{KEPT_NAMES}.restore({at!r}, {alias!r})")
            verdict = grade_exercise(exercise, ask, source=source, **settings)
            if verdict.earned >= exercise.points or verdict.not_allowed or not self._doubtful(exercise, source, names):
                return verdict
        try:
            codes = self._start_apart(exercise.name, source, names, alias)
            ask = partial(self._ask_apart, codes, names)
            again = grade_exercise(exercise, ask, source=source, **settings)
            better = (
                again if verdict is None else max(verdict, again, key=lambda v: (v.earned, v.status != "not started"))
            )
        except NoAnswer as error:
            if verdict is None:
                return needs_a_person(exercise.name, exercise.points, f"the answer was not run: {error}")
            better = verdict
        if better.earned < exercise.points and self.session.spent >= self._until:
            return needs_a_person(exercise.name, exercise.points, "the time limit of the notebook was reached")
        return better

    def follow_through(
        self,
        exercise: Exercise,
        source: NotebookSource,
        right: Iterable[Exercise],
        alias: str = "",
        **settings: Any,
    ) -> ExerciseVerdict:
        """Grade the answer with others replaced by right ones, in a kernel that then ends.

        Call it after all answers were judged as they are, because it ends the kernel of the cells.
        """
        self._restarts = 0
        names = names_needed(source, exercise.name)
        try:
            codes = self._start_apart(exercise.name, source, names, alias)
            ask = partial(self._ask_apart, codes, names)
            return grade_exercise(exercise, ask, source=source, in_place=right, **settings)
        except NoAnswer as error:
            return needs_a_person(exercise.name, exercise.points, f"the answer was not run: {error}")
        finally:
            self.session.stop()

    def practise(self, exercise: str, source: NotebookSource, programs: Programs, alias: str = "") -> list[Observation]:
        """Run practice cases in a kernel that has seen no hidden case. Raises NoAnswer.

        The observations of such a kernel cannot reveal a hidden case, so they may be shown.
        """
        self._restarts = 0
        codes = self._codes(exercise, source, self._stopped(exercise, source), alias)
        if self._whole or self._asked or not self.session.alive:
            self._start_with(codes)
        else:
            self._replay_all([code for code in codes if code not in self._replayed])
        seen = list[Observation]()
        for observation in self._ask_once(programs):
            if isinstance(observation, NoAnswer):
                raise observation
            seen.append(observation)
        return seen

    def why_stopped(self, exercise: str, source: NotebookSource) -> tuple[str, Stop] | None:
        """The first cell, with its stop, that stopped before binding a name this answer needs."""
        names = names_needed(source, exercise)
        names += [STAR] if unbound_names(source, exercise) else []
        found = stopped_cells(self.cells_above(exercise), names)
        return next(((cell.code, cell.stop) for cell in found if cell.stop), None)

    def _doubtful(self, exercise: Exercise, source: NotebookSource, names: list[str]) -> bool:
        """Whether something other than the answer may have cost it points."""
        later = self.cells[self._reached[exercise.name] :]
        return (
            not self._sound(names)
            or self._stopped(exercise.name, source)
            or may_be_changed(source, exercise.name, later)
        )

    def _stopped(self, exercise: str, source: NotebookSource) -> bool:
        return self.why_stopped(exercise, source) is not None

    def _ask_whole(self, restore: str, programs: Programs) -> Answers:
        """Run all at once, which is fast; one by one after a failure, to isolate it."""
        try:
            yield from self._ask(programs, restore)
            return
        except NoAnswer as error:
            why = error
        for program in programs:
            try:
                if not self.session.alive:
                    raise why
                yield from self._ask([program], restore)
            except NoAnswer as error:
                why = error
                yield why

    def _ask_apart(self, codes: list[str], names: list[str], programs: Programs) -> Answers:
        """Run all at once after `codes`; one by one after a failure.

        The first runs in a sound kernel, the others in any live one.
        """
        try:
            if not (self.session.alive and (not self._asked or self._sound(names))):
                self._start_with(codes)
            yield from self._ask(programs)
            return
        except NoAnswer:
            pass
        for number, program in enumerate(programs):
            try:
                if not (self.session.alive if number else self._sound(names)):
                    self._start_with(codes)
                yield from self._ask([program])
            except NoAnswer as error:
                yield error

    def _ask(self, programs: Programs, first: str = "") -> list[Observation | NoAnswer]:
        self._asked = True
        return self._ask_once(programs, first)

    def _ask_once(self, programs: Programs, first: str = "") -> list[Observation | NoAnswer]:
        seconds = self._at_most(max(seconds for _, seconds in programs))
        try:
            observations = self.session.ask([program for program, _ in programs], seconds, first)
        except KernelDied as error:
            raise NoAnswer(str(error)) from None
        return [_no_answer_if_aborted(observation) for observation in observations]

    def _codes(self, exercise: str, source: NotebookSource, definitions_only: bool, alias: str) -> list[str]:
        codes = list(cells_needed(self.cells_above(exercise), source, exercise, definitions_only))
        return [*codes, f"{exercise} = {alias}"] if alias else codes

    def _start_apart(self, exercise: str, source: NotebookSource, names: list[str], alias: str) -> list[str]:
        """Start a kernel with only what an answer needs; return the code run in it."""
        codes: list[str] = []
        for definitions_only in (True,) if self._stopped(exercise, source) else (False, True):
            before, codes = codes, self._codes(exercise, source, definitions_only, alias)
            if codes != before:
                self._start_with(codes)
            if self._sound(names):
                break
        return codes

    def _start_with(self, codes: list[str]) -> None:
        """Start a fresh kernel and run `codes` in it, which may end it."""
        if self._restarts >= MAX_RESTARTS:
            raise NoAnswer("the kernel had ended too often")
        self._at_most(0)
        self._restarts += 1
        self._start(whole=False)
        self._replay_all(codes)

    def _start(self, whole: bool) -> None:
        self.session.start()
        self._whole, self._asked, self._replayed, self._kept = whole, False, [], set()

    def _replay_all(self, codes: list[str]) -> None:
        self._replayed += codes
        with contextlib.suppress(KernelDied):
            for code in codes:
                self.session.run(code, self._at_most(self.session.limits.cell), keep=False)

    def _revive(self) -> None:
        """If the kernel is not whole, start a fresh one and rerun completed cells."""
        while not (self._whole and self.session.alive):
            self._at_most(0, self._cells_until)
            self._start(whole=True)
            for number, cell in enumerate(self.cells):
                self._keep(number)
                if cell.completed and not self._survives(cell):
                    break
            else:
                self._keep(len(self.cells))

    def _survives(self, cell: ExecutedCell) -> bool:
        """Rerun a cell; return whether the kernel still answers.

        It may not, if the cell closed its descriptors or streams.
        """
        seconds = self._at_most(self.session.limits.cell, self._cells_until)
        try:
            cell.completed = not self.session.run(cell.code, seconds, keep=False).note
            if not cell.from_lesson:
                self.session.evaluate("0", ANSWERING_SECONDS)
            return True
        except (KernelDied, NoAnswer):
            cell.completed, cell.stop = False, cell.stop or Stop(0, "the kernel ended while it ran")
            return False

    def _keep(self, number: int) -> None:
        """Keep the names for the exercises whose grade cells come after `number` cells."""
        for exercise in (name for name, reached in self._reached.items() if reached == number):
            with contextlib.suppress(KernelDied, NoAnswer):  # without them the answer is graded apart
                self.session.evaluate(f"{KEPT_NAMES}.keep({exercise!r})", self._at_most(ANSWERING_SECONDS))
                self._kept.add(exercise)

    def _sound(self, names: list[str]) -> bool:
        """Whether the kernel has these names and is otherwise in its first state."""
        return self.session.alive and self._state(names) == self._fresh_state

    def _state(self, names: list[str]) -> object:
        try:
            return self.session.evaluate(STATE.format(names=names), self._at_most(STATE_SECONDS))
        except (KernelDied, NoAnswer) as error:
            return error

    def _at_most(self, seconds: float, until: float | None = None) -> float:
        """Limit `seconds` to the time left, of the notebook or of its cells.

        Raises NoAnswer if no time is left.
        """
        left = (self._until if until is None else until) - self.session.spent
        if left <= 0:
            raise NoAnswer(
                "the time limit of the notebook was reached"
                if until is None
                else "the time limit of the cells was reached"
            )
        return min(seconds, left)


def _no_answer_if_aborted(observation: Observation) -> Observation | NoAnswer:
    """Turn a call that exited or ran out of memory into NoAnswer."""
    if observation.raised and (
        observation.raised["type"] == "MemoryError" or NO_MEMORY in observation.raised["message"]
    ):
        return NoAnswer("ran out of memory")
    if observation.raised and observation.raised["type"] == "SystemExit":
        return NoAnswer("ended the program")
    return observation


def _notice(text: str) -> NotebookNode:
    output: NotebookNode = new_output("stream", name="stderr", text=text + "\n")
    return output
