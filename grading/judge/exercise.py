"""An exercise: its oracle, criteria, known mistakes, right alternatives, visible examples and hints.

`grader_tests/NN_lesson.py` describes each exercise once; the judge grades by it, the build exports the visible part,
`grading check` proves it, the report and the docs list it. docs/authors.md shows how one is written.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from .case import (
    SUBJECT,
    Case,
    Draw,
    Script,
    bind,
    call,
    device,
    generator,
    helper,
    method,
    non_contiguous,
    ref,
    specimen,
    student,
)
from .source import standing_alone

__all__ = [
    "SUBJECT",
    "Case",
    "Draw",
    "Exercise",
    "Lesson",
    "Script",
    "call",
    "device",
    "exercise",
    "generator",
    "helper",
    "load_lesson",
    "method",
    "non_contiguous",
    "ref",
    "specimen",
    "student",
]

Cases = Callable[[Draw], Iterable[Case]]


@dataclass(eq=False)
class Criterion:
    name: str
    points: float
    draw: Cases


@dataclass(eq=False)
class Example:
    """A visible case: what the learner's own `check` runs."""

    name: str
    make: Callable[[], Iterable[Case]]


@dataclass(eq=False)
class Mistake:
    """A wrong answer that people give, and what to tell them.

    shows  the criteria that it must lose
    see    heading of the lesson where to look
    """

    name: str
    text: str
    answer: Any
    shows: tuple[str, ...]
    see: str


@dataclass(eq=False)
class Exercise:
    """One exercise of a lesson; see `exercise`."""

    name: str
    points: int
    forbidden: tuple[str, ...] = ()
    see: str = ""
    answer: Any = None
    criteria: list[Criterion] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    alternatives: list[Any] = field(default_factory=list)
    hints: tuple[str, ...] = ()

    def oracle(self, answer: Any) -> Any:
        """The right answer, independent of the lesson's solution, in any style; it may use what is forbidden.

        It must stand alone (torch, nn, F and math are given), since follow-through sends its source.
        """
        self.answer = answer
        return answer

    def criterion(self, name: str, *, points: float) -> Callable[[Cases], Cases]:
        """Points that are earned where every case that the decorated generator yields is right."""

        def add(draw: Cases) -> Cases:
            self.criteria.append(Criterion(name, points, draw))
            return draw

        return add

    def example(self, name: str) -> Callable[[Any], Any]:
        """Visible cases, with numbers small enough for paper. The decorated generator takes no argument."""

        def add(make: Any) -> Any:
            self.examples.append(Example(name, make))
            return make

        return add

    def mistake(self, text: str, *, shows: str | Iterable[str], see: str = "") -> Callable[[Any], Any]:
        """A known wrong answer. `text` tells the learner what is wrong and what to look at, not the solution."""

        def add(answer: Any) -> Any:
            names = (shows,) if isinstance(shows, str) else tuple(shows)
            self.mistakes.append(Mistake(answer.__name__, text, answer, names, see or self.see))
            return answer

        return add

    def alternative(self, answer: Any) -> Any:
        """A right answer in another style; must earn full marks."""
        self.alternatives.append(answer)
        return answer

    @property
    def stand_in(self) -> str:
        """Source that defines a right answer under the exercise's own name."""
        return f"{standing_alone(self.answer)}\n\n{self.name} = {self.answer.__name__}"

    def cases(self, seed: int) -> list[tuple[Criterion, list[Case]]]:
        """All hidden cases, bound; the same for the same seed, wherever they are drawn."""
        return [
            (c, [bind(case, self.name, self.answer) for case in c.draw(Draw(mix(seed, self.name, c.name)))])
            for c in self.criteria
        ]

    def visible(self) -> Iterator[tuple[str, Case]]:
        for example in self.examples:
            for case in example.make():
                yield example.name, bind(case, self.name, self.answer)


@dataclass(eq=False)
class Lesson:
    """The exercises of one lesson, in their order."""

    name: str
    exercises: dict[str, Exercise]


_loading: list[Exercise] = []


def exercise(name: str, *, points: int, forbidden: Iterable[str] = (), see: str = "") -> Exercise:
    """Declare an exercise.

    points     integer, over all its criteria
    forbidden  regular expressions for names of torch functions that an answer must not use, in any spelling:
               each is matched against whole names without underscores and case (`log_softmax` also stops
               `F.log_softmax`, `x.log_softmax`, `nn.LogSoftmax`; "distributions" also stops torch.distributions.*)
    see        heading in the lesson that a report points to
    """
    made = Exercise(name, points, tuple(forbidden), see)
    _loading.append(made)
    return made


def mix(*parts: object) -> int:
    """A seed from several parts, the same on every machine (unlike `hash`)."""
    return zlib.crc32("\x1f".join(map(str, parts)).encode())


@lru_cache(maxsize=64)
def load_lesson(path: Path) -> Lesson:
    """Read `grader_tests/NN_lesson.py`. Raises FileNotFoundError, or ValueError for what an author must mend."""
    spec = importlib.util.spec_from_file_location(f"grader_tests_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no grader tests at {path}")
    _loading.clear()
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # inspect.getsource looks a class up there
    spec.loader.exec_module(module)
    lesson = Lesson(path.stem, {made.name: made for made in _loading})
    _loading.clear()
    for made in lesson.exercises.values():
        total = sum(c.points for c in made.criteria)
        if made.answer is None:
            raise ValueError(f"{path.name}: exercise {made.name} has no oracle")
        if abs(total - made.points) > 1e-9:
            raise ValueError(f"{path.name}: the criteria of {made.name} sum to {total:g}, not {made.points}")
        names = {c.name for c in made.criteria}
        for mistake in made.mistakes:
            if unknown := set(mistake.shows) - names:
                raise ValueError(f"{path.name}: {made.name}.{mistake.name} shows {unknown}, which is no criterion")
    return lesson
