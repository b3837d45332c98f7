"""The exercises of a lesson, read from its folder.

grader_tests/
    shared/                 code and texts for exercises of several lessons
        families/           mistakes that many exercises share
    NN_lesson/
        __init__.py         EXERCISES, their names in the lesson's order; STEPS, those without points, if it has any
        common.py           code and texts for several exercises of the lesson
        <exercise>/
            contract.py     forbidden names, oracle, hints, examples and criteria
            alternatives.py correct answers in other styles, one titled cell each; `# %% name uses clause` for one that
                            does what this clause of the contract permits
            mistakes.py     known mistakes, as edits of correct answers

A step has the same folder; without points in its criteria, its alternatives.py may be missing.
"""

from __future__ import annotations

import importlib
import sys
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isclose
from pathlib import Path
from types import ModuleType

from course.outline import scale_points

from ..course_dir.lesson_change import LessonChange
from ..errors import ExerciseError
from .answer_text import read_cells
from .exercise import CorrectAnswer, Exercise


@dataclass(eq=False)
class Lesson:
    """The exercises of one lesson, in their order, and its steps, which earn no points."""

    name: str
    exercises: dict[str, Exercise]
    steps: dict[str, Exercise] = field(default_factory=dict)

    @property
    def all_exercises(self) -> dict[str, Exercise]:
        """Exercises, and steps whose criteria have points: those have mutants and recorded verdicts."""
        return self.exercises | {name: step for name, step in self.steps.items() if step.points}

    @property
    def all_tasks(self) -> dict[str, Exercise]:
        """Exercises and steps, which `check` checks and `grading prove` proves."""
        return self.exercises | self.steps


@lru_cache(maxsize=64)
def load_lesson(path: Path) -> Lesson:
    """Read `grader_tests/NN_lesson/`.

    Raises FileNotFoundError, or ExerciseError for a fault that an author must fix.
    """
    if not (path / "__init__.py").is_file():
        raise FileNotFoundError(f"no grader tests at {path}")
    package = f"{package_of(path.parent)}.{path.name}"
    with _with_location(path.parent.resolve(), path):
        described = importlib.import_module(package)
        graded, steps = described.EXERCISES, tuple(getattr(described, "STEPS", ()))
    made = {}
    for name in (*graded, *steps):
        with _with_location(path.parent.resolve(), path / name):
            made[name] = _load_exercise(path / name, f"{package}.{name}")
            if made[name].is_step != (name in steps):
                raise ValueError(f"{name} is declared by `step` or listed in STEPS, and not both")
    return Lesson(path.name, *({name: made[name] for name in names} for names in (graded, steps)))


def load_adapted(tests: Path, change: LessonChange) -> Lesson:
    """Load `grader_tests/NN_lesson/` with the course's changes. Raises as `load_lesson`."""
    lesson = load_lesson(tests)
    return _adapted(lesson, tuple(change.points.items()), change.left_out) if change else lesson


@lru_cache(maxsize=64)
def _adapted(lesson: Lesson, points: tuple[tuple[str, float], ...], left_out: frozenset[str]) -> Lesson:
    """Cached for each lesson, because results computed for an exercise are stored with it."""
    new = dict(points)
    included = {name: exercise for name, exercise in lesson.exercises.items() if name not in left_out}
    return replace(lesson, exercises={name: _with_points(e, new.get(name)) for name, e in included.items()})


def _with_points(exercise: Exercise, points: float | None) -> Exercise:
    if points is None or isclose(points, exercise.points):
        return exercise
    scaled = zip(exercise.criteria, scale_points([c.points for c in exercise.criteria], points), strict=True)
    return replace(exercise, criteria=[replace(criterion, points=new) for criterion, new in scaled])


@contextmanager
def _with_location(tests: Path, folder: Path) -> Iterator[None]:
    """Turn any exception into an ExerciseError that begins with its place in `tests`."""
    try:
        yield
    except Exception as error:
        places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError):
            places.append((error.filename or "", error.lineno))
        said = (error.msg if isinstance(error, SyntaxError) else str(error)).partition("\n")[0].rstrip(": ")
        inside = [(Path(file), line) for file, line in places if Path(file).is_relative_to(tests)]
        file, line = inside[-1] if inside else (folder.resolve(), None)
        where = f"{tests.name}/{file.relative_to(tests).as_posix()}" + (f":{line}" if line else "")
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ExerciseError(f"{where}: {kind}{said}") from error


def package_of(folder: Path) -> str:
    """Register a course's grader_tests as a package under a unique name; return it.

    So two courses in one process do not import each other's modules.
    """
    folder = folder.resolve()
    name = f"grader_tests_{zlib.crc32(str(folder).encode()):08x}"
    if name not in sys.modules:
        sys.modules[name] = package = ModuleType(name)
        package.__path__ = [str(folder)]
    return name


def _load_exercise(folder: Path, package: str) -> Exercise:
    for file in ("contract.py", "mistakes.py"):
        if not (folder / file).is_file():
            raise ValueError(f"{folder} has no {file}")
    contract = importlib.import_module(f"{package}.contract")
    found = [value for value in vars(contract).values() if isinstance(value, Exercise) and value.name == folder.name]
    if len(found) != 1:
        raise ValueError(f"{folder / 'contract.py'}: expected one exercise named {folder.name}, got {len(found)}")
    made, others = found[0], folder / "alternatives.py"
    if made.points and not others.is_file():
        raise ValueError(f"{folder} has no {others.name}")
    for title, code in (read_cells(others) if others.is_file() else {}).items():
        name, _, clause = title.partition(" uses ")
        made.alternatives.append(CorrectAnswer(made.name, name, code, made, clause))
    importlib.import_module(f"{package}.mistakes")
    for mistake in made.mistakes:
        if made.points and not mistake.loses:
            raise ValueError(f"{folder}: mistake {mistake.name} names no criterion that it loses: add `loses=`")
        if not mistake.text or mistake.code in (
            "",
            *(right.code for right in [*made.alternatives, *made.reference_answers]),
        ):
            raise ValueError(f"{folder}: mistake {mistake.name} has no sentence, or equals a right answer")
    if made.answer is None:
        raise ValueError(f"{folder}: exercise {made.name} has no oracle")
    if not (made.is_step or made.points > 0):
        raise ValueError(f"{folder}: the criteria of {made.name} have no points: add `points=`")
    return made
