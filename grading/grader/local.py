"""The hidden verdict in the instructor's own process, for a source notebook that is run by hand.

Nothing is isolated here, and the report says so; grades come from `nbgrader autograde`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from course.harness.program import Program
from course.harness.runner import handle_request
from course.harness.serialization import PackingError
from course.report import Points, Report, display

from ..course_dir.paths import course_root
from ..errors import MalformedReply, NoAnswer
from ..exercises.exercise import Exercise
from ..exercises.lesson import Lesson, load_lesson
from . import codec
from .codec import Answers
from .grade_exercise import grade_exercise
from .source_analysis import NotebookSource
from .verdict import ExerciseVerdict
from .verdict_report import to_report

Given = TypeVar("Given")


def find_exercise(name: str, tests: Path | None = None) -> tuple[Lesson, Exercise]:
    """The exercise of this name in `tests`, which is the course's grader_tests by default.

    Raises LookupError where no lesson has it, NoCourseError where the working directory lies in no course.
    """
    tests = tests or course_root() / "grader_tests"
    for path in sorted(tests.glob("[0-9]*/")):
        lesson = load_lesson(path)
        if name in lesson.exercises:
            return lesson, lesson.exercises[name]
    raise LookupError(f"no exercise named {name!r} in {tests}")


def grade_in_process(
    exercise: Exercise,
    names: Mapping[str, Any],
    *,
    seed: int = 0,
    cells: list[str] | None = None,
    lesson: Lesson | None = None,
    earlier: list[tuple[Exercise, ExerciseVerdict]] | None = None,
    lenient: bool = False,
) -> ExerciseVerdict:
    """Judge names of this process; `cells` is their source, where it is known. See `examine` for the rest.

    What is asked and answered goes over the wire all the same: what cannot pass there is no answer here either.
    """

    def ask(programs: list[tuple[Program, float]]) -> Answers:
        return over_the_wire(
            lambda calls: handle_request(codec.request(calls), names), [program for program, _ in programs]
        )

    known = NotebookSource(cells, lesson.exercises if lesson else ()) if cells is not None else None
    return grade_exercise(exercise, ask, seed=seed, source=known, earlier=earlier or (), ignore_forbidden=lenient)


def over_the_wire(reply: Callable[[list[Given]], str], given: list[Given]) -> Answers:
    """What is read of a reply to all that is given at once; where nothing can be, of one to each by itself."""
    try:
        yield from codec.decode_reply(repr(reply(given)), len(given))
    except (PackingError, MalformedReply):
        for one in given:
            try:
                yield from codec.decode_reply(repr(reply([one])), 1)
            except MalformedReply:
                yield NoAnswer("the kernel gave no readable answer")


def grade(f: Any, tests: Path | None = None) -> Points:
    """Judge the function or class `f` by the hidden cases and show the report; its value prints as the points."""
    lesson, exercise = find_exercise(f.__name__, tests)
    names = dict(vars(sys.modules[f.__module__])) | {f.__name__: f}
    cells = names.get("In") or [inspect.getsource(f)]
    verdict = grade_in_process(exercise, names, cells=cells, lesson=lesson)
    shown: Report = to_report(verdict)
    shown.footnote = "Hidden verdict, made in this process without a sandbox."
    display(shown)
    return Points(verdict.earned, exercise.points)
