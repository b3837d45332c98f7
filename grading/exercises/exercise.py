"""An exercise: its oracle, criteria, known mistakes, right alternatives, visible examples and hints.

`grader_tests/NN_lesson/<exercise>/` describes each exercise once; the judge grades by it, the build exports the visible
part, `grading prove` proves it, the report and the docs list it. docs/authors.md shows how one is written.

Does not cover: how that description is read from its folder (`lesson.py`).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from course.checkers.chance import tagged
from course.harness.bytecode import compile_stand_in
from course.harness.forbidden_calls import PACKAGE

from ..errors import EditError
from .answer_text import Answer, block, edited, filled, patched
from .case import (
    EXERCISE,
    Case,
    Draw,
    Script,
    bind_arguments,
    call,
    device,
    generator,
    helper,
    method,
    non_contiguous,
    ref,
    sample_model,
    student,
)
from .family import Family, changed_checks, wrapped
from .old_language import accept_old_keywords, accept_old_names

__all__ = [
    "EXERCISE",
    "Case",
    "CorrectAnswer",
    "Draw",
    "Exercise",
    "Family",
    "Script",
    "call",
    "challenge",
    "changed_checks",
    "device",
    "exercise",
    "generator",
    "helper",
    "method",
    "non_contiguous",
    "ref",
    "sample_model",
    "student",
    "tagged",
    "wrapped",
]

Cases = Callable[[Draw], Iterable[Case]]


@dataclass(eq=False)
class Criterion:
    name: str
    points: float
    draw: Cases
    check_types: bool = False
    graded_only: str = ""


@dataclass(eq=False)
class Example:
    """A visible case: what the learner's own `check` runs."""

    name: str
    make: Callable[[], Iterable[Case]]
    check_types: bool = False


@accept_old_names
@dataclass(eq=False)
class Mistake(Answer):
    """A wrong answer that people give, and what to tell them.

    loses     the criteria that it must lose
    when      the tag of a checker's finding (see `tagged`) that means this mistake, whatever the numbers are
    text      tells the learner what is wrong and what to look at, not the solution
    see       heading of the lesson where to look
    variants  the same mistake with other values of a constant (see `for_each`)
    base      the right answer that it is an edit of; None: its full code is given
    edits     what turns that answer's text into the mistake's, one after the other
    family    id of the idea that it has in common with mistakes of other exercises (see `Family`), or ""
    """

    loses: tuple[str, ...] = ()
    when: str = ""
    text: str = ""
    see: str = ""
    variants: list[Answer] = field(default_factory=list)
    base: CorrectAnswer | None = None
    edits: list[Callable[[str], str]] = field(default_factory=list)
    family: str = ""

    @property
    def all_forms(self) -> list[Answer]:
        """All answers of this name: itself, and its variants."""
        return [self, *self.variants]

    def patch(self, lines: str) -> Mistake:
        """Make it of the right answer by a patch of whole lines (see `answers.patched`)."""
        return self._edit(partial(patched, patch=lines))

    def full_code(self, code: str) -> Mistake:
        """Give its full code, where it is another algorithm."""
        self.code = block(code)
        return self

    def for_each(self, **values: Iterable[object]) -> Mistake:
        """A word in capitals of its text stands for a constant, `FILL=(-1e9, -1e4)`: with each of these values it is
        the same mistake. Text stands for itself, anything else for its repr."""
        ((word, among),) = values.items()
        first, *others = among
        with_placeholder = self.code
        self._edit(partial(filled, word=word, value=first))
        self.variants = [
            Answer(self.exercise_name, f"{self.name} ({word}={value})", filled(with_placeholder, word, value))
            for value in others
        ]
        return self

    def feedback(self, text: str, see: str = "") -> None:
        """Set the text for the learner; `see`: a heading other than the exercise's."""
        self.text, self.see = text, see or self.see

    def _edit(self, edit: Callable[[str], str]) -> Mistake:
        try:
            self.code = edit(self.code)
        except EditError as error:
            raise EditError(f"mistake {self.name} of {self.exercise_name}: {error}") from None
        self.edits.append(edit)
        return self


@dataclass(eq=False)
class CorrectAnswer(Answer):
    """A right answer, of which mistakes may be edits."""

    exercise: Exercise | None = None

    @accept_old_keywords
    def mistake(
        self, name: str | Family, edit: Mapping[str, str] | None = None, *, loses: str | Iterable[str], when: str = ""
    ) -> Mistake:
        """A known mistake: this text with every key of `edit` replaced by its value, or patched (`Mistake.patch`).

        name   a name of its own, or a family, which may have the edit, too
        loses  the criteria that it must lose, each by the first words of its name
        when   the tag of a checker's finding that means this mistake
        """
        assert self.exercise is not None
        made = self.exercise.mistake(name, loses=loses, when=when)
        made.code, made.base = self.code, self
        if edit:
            return made._edit(partial(edited, edit=edit))
        if isinstance(name, Family) and (make := name.make) is not None:
            return made._edit(lambda code: make(code, self.exercise_name))
        return made


@accept_old_names
@dataclass(eq=False)
class Exercise:
    """One exercise of a lesson; see `exercise`. With `stars` it is a challenge, and no grade has its points."""

    name: str
    points: int
    forbidden: tuple[str, ...] = ()
    see: str = ""
    hints: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()
    stars: int = 0
    answer: Any = None
    criteria: list[Criterion] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    alternatives: list[CorrectAnswer] = field(default_factory=list)
    reference_answers: list[CorrectAnswer] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def oracle(self, answer: Any) -> Any:
        """The right answer, independent of the lesson's solution, in any style; it may use what is forbidden.

        It stands alone (torch, nn, F and math are given), since follow-through sends it.
        """
        self.answer = answer
        return answer

    @accept_old_keywords
    def criterion(
        self, name: str, *, points: float, check_types: bool = False, graded_only: str = ""
    ) -> Callable[[Cases], Cases]:
        """Points that are earned where every case that the decorated generator yields is right.

        check_types  dtype and type are checked here: all other criteria of the exercise then compare values alone
        graded_only  why the learner's own `check` has no practice cases of it; few criteria have a reason
        """

        def add(draw: Cases) -> Cases:
            self.criteria.append(Criterion(name, points, draw, check_types, graded_only))
            return draw

        return add

    @accept_old_keywords
    def example(
        self, name: str, *cases: Case, check_types: bool = False
    ) -> Callable[[Callable[[], Iterable[Case]]], Any]:
        """Visible cases, with numbers small enough for paper: given here, or yielded by the decorated generator.

        check_types  dtype and type are checked, as in the criterion of that kind
        """
        made = Example(name, lambda: cases, check_types)
        self.examples.append(made)

        def add(make: Callable[[], Iterable[Case]]) -> Any:
            made.make = make
            return make

        return add

    def alternative(self, name: str) -> CorrectAnswer:
        """The right answer of this title in alternatives.py, to make mistakes of. Raises LookupError."""
        for right in self.alternatives:
            if right.name == name:
                return right
        raise LookupError(f"{self.name} has no alternative {name!r}; it has {[a.name for a in self.alternatives]}")

    def reference_answer(self, code: str) -> CorrectAnswer:
        """A right answer that mistakes are edits of; unlike an alternative it may use what is forbidden."""
        right = CorrectAnswer(self.name, f"base {len(self.reference_answers) + 1}", block(code), exercise=self)
        self.reference_answers.append(right)
        return right

    @accept_old_keywords
    def mistake(self, name: str | Family, *, loses: str | Iterable[str], when: str = "") -> Mistake:
        """A known mistake that is not an edit of a right answer; `Mistake.full_code` gives its text."""
        family = name if isinstance(name, Family) else Family("", name, "")
        if any(known.name == family.name for known in self.mistakes):
            raise ValueError(f"{self.name}: two mistakes are called {family.name}")
        starts = (loses,) if isinstance(loses, str) else tuple(loses)
        lost = tuple(map(self._criterion, starts))
        made = Mistake(self.name, family.name, "", lost, when, family.sentence, family.see or self.see)
        made.family = family.id
        self.mistakes.append(made)
        return made

    def _criterion(self, start: str) -> str:
        """The name of the one criterion that begins so. Raises ValueError."""
        names = [c.name for c in self.criteria]
        found = [name for name in names if name == start] or [name for name in names if name.startswith(start)]
        if len(found) != 1:
            raise ValueError(
                f"{self.name}: expected one criterion that begins with {start!r}, got {len(found)}; the "
                f"criteria are {names}"
            )
        return found[0]

    @property
    def stand_in(self) -> str:
        """Source that defines a right answer under the exercise's own name: the oracle's, which must stand alone.

        It has no other name, which an error that a wrong call of it raises would tell. No alternative would do: what is
        exact enough for this exercise may not be for one that is built on it.
        """
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.answer)))
        for made in tree.body:
            if isinstance(made, (ast.FunctionDef, ast.ClassDef)):
                made.decorator_list, made.name = [], self.name
        return ast.unparse(tree)

    @cached_property
    def sealed(self) -> str:
        """The stand-in as it goes into a kernel: code that runs, and has no text to print."""
        return compile_stand_in(self.stand_in)

    def cases(self, seed: int) -> list[tuple[Criterion, list[Case]]]:
        """All hidden cases, bound; the same for the same seed, wherever they are drawn."""
        return [
            (c, [self._bound(case, c) for case in c.draw(Draw(mix(seed, self.name, c.name)))]) for c in self.criteria
        ]

    def visible(self) -> Iterator[tuple[str, Case]]:
        for example in self.examples:
            for case in example.make():
                yield example.name, self._bound(case, example)

    def _bound(self, case: Case, of: Criterion | Example) -> Case:
        """The case as part of a criterion or an example, which says whether dtype and type are checked; they are, too,
        where no criterion has `check_types`."""
        check_types = of.check_types or not any(c.check_types for c in self.criteria)
        reason = case.graded_only_reason or (of.graded_only if isinstance(of, Criterion) else "")
        bound = bind_arguments(case, self.name, self.answer)
        return replace(bound, check_types=check_types, graded_only_reason=reason)


@accept_old_keywords
def exercise(
    name: str,
    *,
    points: int,
    result_names: Iterable[str] = (),
    forbidden: Iterable[str] = (),
    see: str = "",
    hints: Iterable[str] = (),
) -> Exercise:
    """Declare an exercise.

    points        integer, over all its criteria
    result_names  what the contract calls the items of a result of several, ("output", "weights"); reports use them
    forbidden     regular expressions for names of torch functions that an answer must not use, in any spelling:
                  each is matched against whole names without underscores and case (`log_softmax` also stops
                  `F.log_softmax`, `x.log_softmax`, `nn.LogSoftmax`; "distributions" also stops torch.distributions.*).
                  What the package `course` ships in place of answers is forbidden in every exercise
    see           heading in the lesson that a report points to
    hints         in stages: a question, then the idea, then the shape of the code; never the solution
    """
    return Exercise(name, points, (*forbidden, PACKAGE), see, tuple(hints), tuple(result_names))


def challenge(
    name: str, *, stars: int, forbidden: Iterable[str] = (), see: str = "", hints: Iterable[str] = ()
) -> Exercise:
    """Declare a challenge: an exercise at the lesson's end that is checked and proved like any other, and not graded.

    stars  one to three, how hard it is; its criteria's points sum to them. The rest is as for `exercise`.
    """
    return Exercise(name, stars, (*forbidden, PACKAGE), see, tuple(hints), stars=stars)


def mix(*parts: object) -> int:
    """A seed from several parts, the same on every machine (unlike `hash`)."""
    return zlib.crc32("\x1f".join(map(str, parts)).encode())
