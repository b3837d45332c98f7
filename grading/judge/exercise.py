"""An exercise: its oracle, criteria, known mistakes, right alternatives, visible examples and hints.

`grader_tests/NN_lesson/<exercise>/` describes each exercise once; the judge grades by it, the build exports the visible
part, `grading check` proves it, the report and the docs list it. docs/authors.md shows how one is written.

Does not cover: how that description is read from its folder (`lesson.py`).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from course.protocol.sealing import seal

from .answers import Answer, EditError, block, edited, patched
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

__all__ = [
    "SUBJECT",
    "Case",
    "Draw",
    "Exercise",
    "Right",
    "Script",
    "call",
    "device",
    "exercise",
    "generator",
    "helper",
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
class Mistake(Answer):
    """A wrong answer that people give, and what to tell them.

    shows  the criteria that it must lose
    text   tells the learner what is wrong and what to look at, not the solution
    see    heading of the lesson where to look
    """

    shows: tuple[str, ...] = ()
    text: str = ""
    see: str = ""

    def patch(self, lines: str) -> Mistake:
        """Make it of the right answer by a patch of whole lines (see `answers.patched`)."""
        try:
            self.code = patched(self.code, lines)
        except EditError as error:
            raise EditError(f"mistake {self.name} of {self.subject}: {error}") from None
        return self

    def whole(self, code: str) -> Mistake:
        """Write it out whole, where it is another algorithm."""
        self.code = block(code)
        return self

    def says(self, text: str, see: str = "") -> None:
        """What the learner is told; `see` where it is another heading than the exercise's."""
        self.text, self.see = text, see or self.see


@dataclass(eq=False)
class Right(Answer):
    """A right answer, of which mistakes may be edits."""

    exercise: Exercise | None = None

    def mistake(self, name: str, edit: Mapping[str, str] | None = None, *, shows: str | Iterable[str]) -> Mistake:
        """A known mistake: this text with every key of `edit` replaced by its value, or patched (`Mistake.patch`).

        shows  the criteria that it must lose, each by the first words of its name
        """
        assert self.exercise is not None
        made = self.exercise.mistake(name, shows=shows)
        try:
            made.code = edited(self.code, edit or {})
        except EditError as error:
            raise EditError(f"mistake {name} of {self.subject}: {error}") from None
        return made


@dataclass(eq=False)
class Exercise:
    """One exercise of a lesson; see `exercise`."""

    name: str
    points: int
    forbidden: tuple[str, ...] = ()
    see: str = ""
    hints: tuple[str, ...] = ()
    answer: Any = None
    criteria: list[Criterion] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    alternatives: list[Right] = field(default_factory=list)
    bases: list[Right] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def oracle(self, answer: Any) -> Any:
        """The right answer, independent of the lesson's solution, in any style; it may use what is forbidden.

        It stands alone (torch, nn, F and math are given), since follow-through sends it.
        """
        self.answer = answer
        return answer

    def criterion(self, name: str, *, points: float) -> Callable[[Cases], Cases]:
        """Points that are earned where every case that the decorated generator yields is right."""

        def add(draw: Cases) -> Cases:
            self.criteria.append(Criterion(name, points, draw))
            return draw

        return add

    def example(self, name: str, *cases: Case) -> Callable[[Callable[[], Iterable[Case]]], Any]:
        """Visible cases, with numbers small enough for paper: given here, or yielded by the decorated generator."""
        made = Example(name, lambda: cases)
        self.examples.append(made)

        def add(make: Callable[[], Iterable[Case]]) -> Any:
            made.make = make
            return make

        return add

    def alternative(self, name: str) -> Right:
        """The right answer of this title in alternatives.py, to make mistakes of. Raises LookupError."""
        for right in self.alternatives:
            if right.name == name:
                return right
        raise LookupError(f"{self.name} has no alternative {name!r}; it has {[a.name for a in self.alternatives]}")

    def base(self, code: str) -> Right:
        """A right answer for mistakes to be made of; unlike an alternative it may use what is forbidden."""
        right = Right(self.name, f"base {len(self.bases) + 1}", block(code), exercise=self)
        self.bases.append(right)
        return right

    def mistake(self, name: str, *, shows: str | Iterable[str]) -> Mistake:
        """A known mistake that is no edit of a right answer; `Mistake.whole` gives its text."""
        if any(known.name == name for known in self.mistakes):
            raise ValueError(f"{self.name}: two mistakes are called {name}")
        starts = (shows,) if isinstance(shows, str) else tuple(shows)
        made = Mistake(self.name, name, "", tuple(map(self._criterion, starts)), see=self.see)
        self.mistakes.append(made)
        return made

    def _criterion(self, start: str) -> str:
        """The name of the one criterion that begins so. Raises ValueError."""
        names = [c.name for c in self.criteria]
        found = [name for name in names if name == start] or [name for name in names if name.startswith(start)]
        if len(found) != 1:
            raise ValueError(f"{self.name}: {len(found)} criteria begin with {start!r}, not one; there are {names}")
        return found[0]

    @property
    def stand_in(self) -> str:
        """Source that defines a right answer under the exercise's own name: the oracle's, which must stand alone.

        No alternative would do: what is exact enough for this exercise may not be for one that is built on it.
        """
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.answer)))
        for made in tree.body:
            if isinstance(made, (ast.FunctionDef, ast.ClassDef)):
                made.decorator_list = []
        return f"{ast.unparse(tree)}\n\n{self.name} = {self.answer.__name__}"

    @cached_property
    def sealed(self) -> str:
        """The stand-in as it goes into a kernel: code that runs, and has no text to print."""
        return seal(self.stand_in)

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


def exercise(
    name: str, *, points: int, forbidden: Iterable[str] = (), see: str = "", hints: Iterable[str] = ()
) -> Exercise:
    """Declare an exercise.

    points     integer, over all its criteria
    forbidden  regular expressions for names of torch functions that an answer must not use, in any spelling:
               each is matched against whole names without underscores and case (`log_softmax` also stops
               `F.log_softmax`, `x.log_softmax`, `nn.LogSoftmax`; "distributions" also stops torch.distributions.*)
    see        heading in the lesson that a report points to
    hints      in stages: a question, then the idea, then the shape of the code; never the solution
    """
    return Exercise(name, points, tuple(forbidden), see, tuple(hints))


def mix(*parts: object) -> int:
    """A seed from several parts, the same on every machine (unlike `hash`)."""
    return zlib.crc32("\x1f".join(map(str, parts)).encode())
