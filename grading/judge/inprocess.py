"""The hidden verdict in the instructor's own process, for a source notebook that is run by hand.

Nothing is isolated here, and the report says so; grades come from `nbgrader autograde`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from course.protocol.program import Observation, Program
from course.protocol.running import answer
from course.report import Points, Report, display

from . import wire
from .examine import NoAnswer, examine
from .exercise import Exercise, Lesson, load_lesson
from .present import report
from .source import Source
from .verdict import ExerciseVerdict

GRADER_TESTS = Path(__file__).parents[2] / "grader_tests"


def find_exercise(name: str, tests: Path = GRADER_TESTS) -> tuple[Lesson, Exercise]:
    """Raises LookupError where no lesson has an exercise of this name."""
    for path in sorted(tests.glob("[0-9]*.py")):
        lesson = load_lesson(path)
        if name in lesson.exercises:
            return lesson, lesson.exercises[name]
    raise LookupError(f"no exercise named {name!r} in {tests}")


def examine_here(
    exercise: Exercise,
    names: Mapping[str, Any],
    *,
    seed: int = 0,
    cells: list[str] | None = None,
    lesson: Lesson | None = None,
    earlier: list[tuple[Exercise, ExerciseVerdict]] | None = None,
) -> ExerciseVerdict:
    """Judge names of this process; `cells` is their source, where it is known.

    What is asked and answered goes over the wire all the same: what cannot pass there is no answer here either.
    """

    def ask(programs: list[tuple[Program, float]]) -> Iterator[Observation | NoAnswer]:
        for program, _ in programs:
            try:
                yield from wire.read(repr(answer(wire.request([program]), names)), 1)
            except wire.Malformed:
                yield NoAnswer("the kernel gave no readable answer")

    known = Source(cells, lesson.exercises if lesson else ()) if cells is not None else None
    return examine(exercise, ask, seed=seed, source=known, earlier=earlier or ())


def grade(f: Any, tests: Path = GRADER_TESTS) -> Points:
    """Judge the function or class `f` by the hidden cases and show the report; its value prints as the points."""
    lesson, exercise = find_exercise(f.__name__, tests)
    names = dict(vars(sys.modules[f.__module__])) | {f.__name__: f}
    cells = names.get("In") or [inspect.getsource(f)]
    verdict = examine_here(exercise, names, cells=cells, lesson=lesson)
    shown: Report = report(verdict)
    shown.footnote = "Hidden verdict, made in this process without a sandbox."
    display(shown)
    return Points(verdict.earned, exercise.points)
