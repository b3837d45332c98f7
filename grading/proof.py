"""Proves the grader of a lesson before it is released: what `grading check` does.

For every exercise: the lesson's own solution earns full marks and its stub none; every alternative, and every right
answer of which mistakes are edits, earns full marks; every known mistake loses the criteria that it shows, and is
named; mutants of the solution lose marks.
"""

from __future__ import annotations

import contextlib
import io
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from course.protocol.program import Program
from course.protocol.running import reply

from .build import build_lesson, lessons, read_lesson
from .cells import grade_id
from .judge import wire
from .judge.answers import GIVEN, Answer
from .judge.case import Case, Draw
from .judge.examine import earns_all, examine, known_verdict
from .judge.exercise import Cases, Exercise, Mistake
from .judge.inprocess import examine_here
from .judge.lesson import load_lesson
from .judge.present import present
from .judge.references import mistaken
from .judge.verdict import ExerciseVerdict
from .mutants import mutants

SEEDS = (0, 1, 2)
SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*", re.M | re.S)


@dataclass
class Proof:
    """What was found about one exercise. `problems` block a release; survivors are for an author to read.

    verdicts  of every answer that was judged, by its name: one for each seed
    """

    exercise: Exercise
    verdicts: dict[str, list[ExerciseVerdict]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    mutants: int = 0
    survivors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        head = (
            f"{self.exercise.name}: {len(self.exercise.mistakes)} mistakes, {self.named} named rightly, "
            f"{len(self.exercise.alternatives)} alternatives"
        )
        if self.mutants:
            head += f", {self.mutants - len(self.survivors)}/{self.mutants} mutants killed"
        lines = [f"  ✗ {p}" for p in self.problems] + [f"  survived: {s}" for s in self.survivors]
        return "\n".join([head, *lines])

    @property
    def named(self) -> int:
        """How many known mistakes are named as what they are, with every seed."""
        return sum(
            all(verdict.mistake == mistake.name for verdict in self.verdicts[f"mistake {mistake.name}"])
            for mistake in self.exercise.mistakes
        )

    def in_short(self) -> dict[str, list[str]]:
        """Every verdict as one word and a name: for each criterion 1 or 0, then the mistake that it was taken for."""
        return {
            answer: [
                "".join(str(int(c.status == "right")) for c in v.criteria) + (f" {v.mistake}" if v.mistake else "")
                for v in verdicts
            ]
            for answer, verdicts in self.verdicts.items()
        }


class Prover:
    """Proves the exercises of one lesson of the course in `root`, with cases drawn from each of `seeds`."""

    def __init__(self, root: Path, name: str, seeds: tuple[int, ...] = SEEDS) -> None:
        self.seeds = seeds
        self.lesson = load_lesson(root / "grader_tests" / name)
        self.solved, self.solutions = namespace(root, name)
        self.stubs, _ = namespace(root, name, solved=False)

    def prove(self, exercise: Exercise, *, mutate: bool = True) -> Proof:
        proof = Proof(exercise)
        self._right(proof, "solution", self.solved[exercise.name], list(self.solutions.values()))
        oracle = Answer(exercise.name, "oracle", exercise.stand_in).answer
        self._right(proof, "oracle", oracle, rules=_where_defined(exercise), lenient=True)
        for alternative in exercise.alternatives:
            made, source = self._handed_in(alternative)
            self._right(proof, f"alternative {alternative.name}", made, source)
        for base in exercise.bases:
            self._right(proof, f"{base.name}, of which mistakes are edits,", base.answer, lenient=True)
        stub = self._judged(exercise, self.stubs[exercise.name], self.seeds[0])
        if stub.earned or stub.status != "not started":
            proof.problems.append(f"the stub earns {stub.earned:g} and is {stub.status!r}")
        for mistake in exercise.mistakes:
            self._wrong(proof, mistake)
        for text, code in mutants(self.solutions[exercise.name]) if mutate else ():
            proof.mutants += 1
            if not self._killed(exercise, code):
                proof.survivors.append(text)
        return proof

    def _right(
        self,
        proof: Proof,
        what: str,
        answer: Any,
        source: list[str] | None = None,
        *,
        rules: Exercise | None = None,
        lenient: bool = False,
    ) -> None:
        rules = rules or proof.exercise
        found = [self._judged(rules, answer, seed, source, lenient) for seed in self.seeds]
        proof.verdicts[what] = found
        if poor := next((v for v in found if v.earned != rules.points), None):
            shown = present(poor).to_text()
            proof.problems.append(f"the {what} earns {poor.earned:g} of {rules.points} (seed {poor.seed}):\n{shown}")

    def _wrong(self, proof: Proof, mistake: Mistake) -> None:
        first, *more = self.seeds
        found = [_received(proof.exercise, mistake, first)]
        found += [known_verdict(proof.exercise, mistake.name, seed) for seed in more]
        proof.verdicts[f"mistake {mistake.name}"] = found
        for verdict in found:
            kept = set(mistake.shows) & {c.name for c in verdict.criteria if c.status == "right"}
            if kept:
                proof.problems.append(f"mistake {mistake.name} does not lose {sorted(kept)} (seed {verdict.seed})")
                return
        if others := [v.mistake or "nothing" for v in found if v.mistake != mistake.name]:
            proof.problems.append(f"mistake {mistake.name} is taken for {', '.join(others)} with {len(others)} seeds")

    def _judged(
        self, exercise: Exercise, answer: Any, seed: int, source: list[str] | None = None, lenient: bool = False
    ) -> ExerciseVerdict:
        names = {**self.solved, exercise.name: answer}
        return examine_here(exercise, names, seed=seed, cells=source, lesson=self.lesson, lenient=lenient)

    def _handed_in(self, answer: Answer) -> tuple[Any, list[str]]:
        """An answer as a student hands it in: made in the notebook's names, and read."""
        return answer.define(dict(self.solved) | GIVEN)[answer.subject], [answer.cell]

    def _killed(self, exercise: Exercise, code: str) -> bool:
        names = dict(self.solved)
        try:
            with _seconds(10):
                exec(code, names)  # noqa: S102 - a mutant of the course's own text
                return not earns_all(exercise, names)
        except Exception:
            return True


def _received(exercise: Exercise, mistake: Mistake, seed: int) -> ExerciseVerdict:
    """The judge has run every known mistake already: here what it gives goes over the wire, as a learner's does."""

    def ask(_: list[tuple[Program, float]]) -> wire.Answers:
        for seen in mistaken(exercise, seed)[mistake.name]:
            try:
                yield from wire.read(repr(reply([seen])), 1)
            except wire.Malformed:
                yield wire.NoAnswer("the kernel gave no readable answer")

    return examine(exercise, ask, seed=seed, lenient=True)


def namespace(root: Path, name: str, solved: bool = True) -> tuple[dict[str, Any], dict[str, str]]:
    """What a lesson's own code defines, and the source of its solution cells; demos and grade cells are not run."""
    names: dict[str, Any] = {"__name__": "lesson"}
    solutions: dict[str, str] = {}
    for cell in read_lesson(root / "source" / f"{name}.py").cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or marks.get("grade") or "demo" in cell.metadata.get("tags", []):
            continue
        code = cell.source
        if marks.get("solution"):
            if not solved:
                code = SOLUTION.sub(r"\1raise NotImplementedError()", code)
            solutions[grade_id(cell)] = code
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, f"<{name}: {cell['id']}>", "exec"), names)  # noqa: S102 - the course's own text
    return names, solutions


def _where_defined(exercise: Exercise) -> Exercise:
    """The exercise without what is asked where no derivative exists: an oracle says "here" by a gradient of NaN."""

    def anything(draw: Draw, cases: Cases) -> Iterator[Case]:
        return (replace(case, undefined="any") for case in cases(draw))

    criteria = [replace(c, draw=partial(anything, cases=c.draw)) for c in exercise.criteria]
    return replace(exercise, criteria=criteria)


@contextlib.contextmanager
def _seconds(limit: float) -> Iterator[None]:
    """A mutant may loop forever: an alarm ends it."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def prove_all(root: Path, names: list[str], only: str = "", *, mutate: bool = True, verbose: bool = False) -> int:
    """Prove the lessons (all by default), printing what was found; returns the number of problems.

    only     name of one exercise
    verbose  print the report of every known mistake
    """
    problems = 0
    for name in names or lessons(root):
        if not (root / "grader_tests" / name).exists():
            print(f"{name}: no grader_tests/{name}")
            problems += 1
            continue
        print(name, flush=True)
        build_lesson(root, name)
        prover = Prover(root, name)
        for exercise in prover.lesson.exercises.values():
            if only in ("", exercise.name):
                proof = prover.prove(exercise, mutate=mutate)
                if verbose:
                    _print_reports(proof)
                print(f"  {str(proof).replace(chr(10), chr(10) + '  ')}", flush=True)
                problems += len(proof.problems)
    return problems


def _print_reports(proof: Proof) -> None:
    for mistake in proof.exercise.mistakes:
        print(f"\n{mistake.name}\n{present(proof.verdicts[f'mistake {mistake.name}'][0]).to_text()}")
