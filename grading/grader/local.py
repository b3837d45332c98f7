"""Grading in an instructor's own process, for a source notebook run by hand.

Nothing is isolated here, and the report says so; grades come from `nbgrader autograde`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from course.harness.program import Program
from course.harness.runner import handle_request
from course.harness.serialization import PackingError
from course.report import Points, Report, display

from ..course_dir.lesson_change import LessonChange
from ..course_dir.lesson_marks import exercise_points
from ..course_dir.paths import course_root
from ..errors import MalformedReply, NoAnswer
from ..exercises.exercise import Exercise
from ..exercises.lesson import Lesson, load_adapted
from . import codec
from .codec import Answers
from .follow_through import grade_and_follow
from .grade_exercise import grade_exercise
from .source_analysis import NotebookSource
from .verdict import ExerciseVerdict
from .verdict_report import to_report

Given = TypeVar("Given")


def find_exercise(name: str, tests: Path | None = None) -> tuple[Lesson, Exercise]:
    """Find an exercise in `tests`, by default the course's grader_tests.

    Raises LookupError if no lesson has it, NoCourseError if the working directory is in no course.
    """
    tests = tests or course_root() / "grader_tests"
    for path in sorted(tests.glob("[0-9]*/")):
        lesson = load_adapted(path, LessonChange(exercise_points(tests.parent, path.name)))
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
    earlier: Iterable[tuple[Exercise, ExerciseVerdict]] = (),
    lenient: bool = False,
) -> ExerciseVerdict:
    """Grade names of this process; `cells` is their source, if known.

    earlier  other exercises and steps with their verdicts (`follow_through`). For the rest see `grade_exercise`. Calls
    and replies are encoded all the same: what a kernel could not send is no answer here.
    """

    def ask(programs: list[tuple[Program, float]]) -> Answers:
        return over_the_wire(
            lambda calls: handle_request(codec.request(calls), names), [program for program, _ in programs]
        )

    source = NotebookSource(cells, lesson.exercises if lesson else ()) if cells is not None else None
    if source is None or lenient:
        return grade_exercise(exercise, ask, seed=seed, source=source, ignore_forbidden=lenient)
    return grade_and_follow(exercise, ask, source, earlier, seed=seed)


def over_the_wire(reply: Callable[[list[Given]], str], given: list[Given]) -> Answers:
    """Decode one reply to all that is given; if that fails, one reply to each."""
    try:
        yield from codec.decode_reply(repr(reply(given)), len(given))
    except (PackingError, MalformedReply):
        for item in given:
            try:
                yield from codec.decode_reply(repr(reply([item])), 1)
            except MalformedReply:
                yield NoAnswer("the kernel gave no readable answer")


def grade(f: Any, tests: Path | None = None) -> Points:
    """Grade `f` on the hidden cases and show the report; returns the points."""
    lesson, exercise = find_exercise(f.__name__, tests)
    names = dict(vars(sys.modules[f.__module__])) | {f.__name__: f}
    cells = names.get("In") or [inspect.getsource(f)]
    verdict = grade_in_process(exercise, names, cells=cells, lesson=lesson)
    report: Report = to_report(verdict)
    report.details.append("Graded on the hidden cases in this process, without a sandbox.")
    display(report, everything=True)
    return Points(verdict.earned, exercise.points)
