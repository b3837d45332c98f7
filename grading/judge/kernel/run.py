"""One notebook run and graded in a kernel that student code may break.

An answer is graded in the kernel in which all cells so far have run. If it loses points there and the kernel has ended
or changed its state, the answer is graded once more, apart: in a fresh kernel that has run only what it needs
(`dependencies`), and the better verdict counts. So code that ends or spoils a kernel costs only its own exercise.
Restarts per exercise and time per notebook are limited.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import partial
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.harness.program import Observation, Program
from grading.errors import KernelDied, NoAnswer
from grading.exercises.exercise import Exercise
from grading.grader.grade_exercise import grade_exercise
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict

from .dependencies import ExecutedCell, cells_needed, names_needed
from .outputs import CellRun
from .session import Session

MAX_RESTARTS = 8  # per exercise
NO_MEMORY = "can't allocate memory"  # from torch's allocator, in a RuntimeError
STATE_SECONDS = 5.0
# What calls depend on besides the notebook's names: which of those are missing (or were filled in by `begin`), torch's
# settings and a product, the module search, whether the standard descriptors are open, and which names of torch and of
# the course the notebook has replaced
STATE = """(lambda names, torch, os, sys, builtins: str((
    [n for n in {names!r} if n not in names or getattr(names[n], "__module__", "") == "course.notebook.session"],
    torch.get_default_dtype(), torch.ones(2, 3) @ torch.ones(3, 1), torch.ones(1).device,
    torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.are_deterministic_algorithms_enabled(),
    sys.path, sys.meta_path, len(sys.path_hooks), sys.getrecursionlimit(), os.getcwd(),
    [os.fstat(descriptor).st_mode for descriptor in range(3)],
    [name for place in (builtins, torch, torch.Tensor, torch.nn, torch.nn.functional,
                        *(module for key, module in sys.modules.items() if key.startswith("course.")))
     for name, value in vars(place).items() if getattr(value, "__module__", "") == "__main__"],
)))(__import__("IPython").get_ipython().user_ns, *map(__import__, ("torch", "os", "sys", "builtins")))"""

Programs = list[tuple[Program, float]]  # each with its time limit in seconds
Answers = Iterator[Observation | NoAnswer]


class NotebookRun:
    """One notebook in its kernel. given: texts of the lesson's cells, stripped."""

    def __init__(self, session: Session, seconds: float, given: Container[str] = ()) -> None:
        self.session, self.given = session, given
        self.cells: list[ExecutedCell] = []
        self._until = session.spent + seconds
        self._whole = True  # whether all cells so far, except endless ones, have run in the current kernel
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
                ran = self.session.run(code, self._at_most(self.session.limits.cell))
                cell.completed = not ran.note
                return ran.outputs + ([_notice(f"This cell was {ran.note}.")] if ran.note else []), ran.count
        except (KernelDied, NoAnswer) as error:
            cell.completed = False
            return [_notice(f"This cell was not finished: {error}.")], None
        finally:
            self.cells.append(cell)
        return [], None

    def judge(self, exercise: Exercise, source: NotebookSource, **settings: Any) -> ExerciseVerdict:
        """Grade the answer as it is now. `settings` are passed to `grade_exercise`."""
        self._restarts = 0
        verdict = grade_exercise(exercise, self._ask_whole, source=source, **settings)
        names = names_needed(source, exercise.name)
        if verdict.earned >= exercise.points or verdict.not_allowed or self._sound(names):
            return verdict
        try:
            codes = self._start_apart(exercise.name, source, names)
        except NoAnswer:  # no time is left
            return verdict
        if not self.session.alive:
            return verdict
        again = grade_exercise(exercise, partial(self._ask_apart, codes, names), source=source, **settings)
        return max(verdict, again, key=lambda candidate: (candidate.earned, candidate.status != "not started"))

    def _ask_whole(self, programs: Programs) -> Answers:
        """Run all at once, which is fast; one by one after a failure, to isolate it."""
        try:
            self._revive()
            yield from self._ask(programs)
            return
        except NoAnswer as error:
            why = error
        for program in programs:
            try:
                if not self.session.alive:
                    raise why
                yield from self._ask([program])
            except NoAnswer as error:
                why = error
                yield why

    def _ask_apart(self, codes: list[str], names: list[str], programs: Programs) -> Answers:
        """Run one by one after `codes`: first in a sound kernel, then in any live one."""
        for number, program in enumerate(programs):
            try:
                if not (self.session.alive if number else self._sound(names)):
                    self._start_with(codes)
                yield from self._ask([program])
            except NoAnswer as error:
                yield error

    def _ask(self, programs: Programs) -> list[Observation | NoAnswer]:
        seconds = self._at_most(max(seconds for _, seconds in programs))
        try:
            observations = self.session.ask([program for program, _ in programs], seconds)
        except KernelDied as error:
            raise NoAnswer(str(error)) from None
        return [_no_answer_if_aborted(observation) for observation in observations]

    def _start_apart(self, name: str, source: NotebookSource, names: list[str]) -> list[str]:
        """Start a kernel with only what an answer needs; return the code run in it."""
        codes: list[str] = []
        for definitions_only in (False, True):
            before, codes = codes, list(cells_needed(self.cells, source, name, definitions_only))
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
        self._whole = False
        self.session.start()
        try:
            for code in codes:
                self._replay(code)
        except KernelDied:
            pass

    def _revive(self) -> None:
        """If the kernel is not whole, start a fresh one and rerun completed cells."""
        while not (self._whole and self.session.alive):
            self._at_most(0)
            self.session.start()
            self._whole = True
            for cell in self.cells:
                if cell.completed:
                    try:
                        cell.completed = not self._replay(cell.code).note
                    except KernelDied:
                        cell.completed = False
                        break

    def _replay(self, code: str) -> CellRun:
        return self.session.run(code, self._at_most(self.session.limits.cell), keep=False)

    def _sound(self, names: list[str]) -> bool:
        """Whether the kernel has these names and is otherwise in its first state."""
        return self.session.alive and self._state(names) == self._fresh_state

    def _state(self, names: list[str]) -> object:
        try:
            return self.session.evaluate(STATE.format(names=names), self._at_most(STATE_SECONDS))
        except (KernelDied, NoAnswer) as error:
            return error

    def _at_most(self, seconds: float) -> float:
        """Limit `seconds` to the notebook's time left. Raises NoAnswer if none is."""
        left = self._until - self.session.spent
        if left <= 0:
            raise NoAnswer("the notebook's time was over")
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
