"""Proves the grader of a lesson before it is released.

For every exercise: the lesson's own solution earns full marks and its stub none; every alternative earns full marks;
every known mistake loses the criteria that it shows, and is named; mutants of the solution lose marks.
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

from .build import build_lesson, lessons, read_lesson
from .cells import grade_id
from .judge.case import Case, Draw
from .judge.exercise import Cases, Exercise, Lesson, load_lesson
from .judge.inprocess import examine_here
from .judge.present import report
from .judge.verdict import ExerciseVerdict
from .mutants import mutants
from .sample import as_answer

SEEDS = (0, 1, 2)
SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*", re.M | re.S)


@dataclass
class Outcome:
    """What was found about one exercise. `problems` block a release; survivors are for an author to read."""

    exercise: str
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        c = self.counts
        killed = f"{c['mutants'] - len(self.survivors)}/{c['mutants']} mutants killed" if c.get("mutants") else ""
        head = (
            f"{self.exercise}: {c['mistakes']} mistakes, {c['named']} named rightly, {c['alternatives']} alternatives"
            f"{', ' + killed if killed else ''}"
        )
        lines = [f"  ✗ {p}" for p in self.problems] + [f"  survived: {s}" for s in self.survivors]
        return "\n".join([head, *lines])


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


def check_lesson(root: Path, name: str, only: str = "", *, mutate: bool = True, verbose: bool = False) -> list[Outcome]:
    lesson = load_lesson(root / "grader_tests" / f"{name}.py")
    solved, solutions = namespace(root, name)
    stubs, _ = namespace(root, name, solved=False)
    return [
        check_exercise(exercise, lesson, solved, solutions, stubs, mutate=mutate, verbose=verbose)
        for exercise in lesson.exercises.values()
        if only in ("", exercise.name)
    ]


def check_exercise(
    exercise: Exercise,
    lesson: Lesson,
    solved: dict[str, Any],
    solutions: dict[str, str],
    stubs: dict[str, Any],
    *,
    mutate: bool,
    verbose: bool,
) -> Outcome:
    found = Outcome(exercise.name, {"mistakes": len(exercise.mistakes), "named": 0})
    found.counts["alternatives"] = len(exercise.alternatives)
    cells = list(solutions.values())
    free = replace(exercise, forbidden=())  # oracles and mistakes may be written with what an answer may not use

    def judge(answer: Any, seed: int, source: list[str] | None = None, rules: Exercise = exercise) -> ExerciseVerdict:
        return examine_here(rules, {**solved, exercise.name: answer}, seed=seed, cells=source, lesson=lesson)

    def must_be_right(what: str, answer: Any, source: list[str] | None = None, rules: Exercise = exercise) -> None:
        for seed in SEEDS:
            verdict = judge(answer, seed, source, rules)
            if verdict.earned != exercise.points:
                found.problems.append(f"{what} earns {verdict.earned:g} (seed {seed}):\n{report(verdict).to_text()}")
                return

    must_be_right("the solution", solved[exercise.name], cells)
    must_be_right("the oracle", exercise.answer, rules=_where_defined(free))
    must_be_right("its source alone", *_from_source(exercise, exercise.answer, solved), rules=_where_defined(free))
    for alternative in exercise.alternatives:
        must_be_right(f"alternative {alternative.__name__}", *_from_source(exercise, alternative, solved))
    stub = judge(stubs[exercise.name], 0)
    if stub.earned or stub.status != "not started":
        found.problems.append(f"the stub earns {stub.earned:g} and is {stub.status!r}")
    for mistake in exercise.mistakes:
        named = 0
        for seed in SEEDS:
            verdict = judge(mistake.answer, seed, rules=free)
            if verbose and seed == SEEDS[0]:
                print(f"\n{mistake.name}\n{report(verdict).to_text()}")
            lost = {c.name for c in verdict.criteria if c.status != "right"}
            if missed := set(mistake.shows) - lost:
                found.problems.append(f"mistake {mistake.name} does not lose {sorted(missed)} (seed {seed})")
                break
            named += verdict.mistake == mistake.name
        found.counts["named"] += named == len(SEEDS)
        if named < len(SEEDS):
            found.problems.append(f"mistake {mistake.name} is named for {named} of {len(SEEDS)} seeds")
    if mutate:
        for count, (text, code) in enumerate(mutants(solutions[exercise.name]), 1):
            found.counts["mutants"] = count
            if not _killed(exercise, lesson, solved, code):
                found.survivors.append(text)
    return found


def _where_defined(exercise: Exercise) -> Exercise:
    """The exercise without what is asked where no derivative exists: an oracle says "here" by a gradient of NaN."""

    def anything(draw: Draw, cases: Cases) -> Iterator[Case]:
        return (replace(case, undefined="any") for case in cases(draw))

    criteria = [replace(c, draw=partial(anything, cases=c.draw)) for c in exercise.criteria]
    return replace(exercise, criteria=criteria)


def _from_source(exercise: Exercise, answer: Any, solved: dict[str, Any]) -> tuple[Any, list[str]]:
    """An answer as a student hands it in: made from its own source in the notebook's names, and read."""
    code, names = as_answer(exercise, answer), dict(solved)
    exec(compile(code, f"<{answer.__name__}>", "exec"), names)  # noqa: S102 - the course's own text
    return names[exercise.name], [code]


def _killed(exercise: Exercise, lesson: Lesson, solved: dict[str, Any], code: str) -> bool:
    names = dict(solved)
    try:
        with _seconds(10):
            exec(code, names)  # noqa: S102 - a mutant of the course's own text
            return examine_here(exercise, names, cells=None, lesson=lesson).earned < exercise.points
    except Exception:
        return True


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


def check_all(root: Path, names: list[str], only: str = "", *, mutate: bool = True, verbose: bool = False) -> int:
    """Print what was found; returns the number of problems."""
    problems = 0
    for name in names or lessons(root):
        if not (root / "grader_tests" / f"{name}.py").exists():
            print(f"{name}: no grader_tests/{name}.py")
            problems += 1
            continue
        print(name, flush=True)
        build_lesson(root, name)
        for outcome in check_lesson(root, name, only, mutate=mutate, verbose=verbose):
            print(f"  {str(outcome).replace(chr(10), chr(10) + '  ')}", flush=True)
            problems += len(outcome.problems)
    return problems
