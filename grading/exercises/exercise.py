"""An exercise: oracle, criteria, known mistakes, alternatives, examples and hints.

`grader_tests/NN_lesson/<exercise>/` describes each exercise once: the judge grades by it, the build exports its visible
part, `grading prove` proves it, reports and docs list it. docs/authors.md shows how to write one.

Does not cover: reading that description from its folder (`lesson.py`).
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
from .answer_text import Answer, apply_edits, apply_patch, block, fill_placeholder
from .case import (
    EXERCISE,
    Case,
    Draw,
    Script,
    bind_arguments,
    call,
    conventions,
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

__all__ = [
    "EXERCISE",
    "Case",
    "CorrectAnswer",
    "Draw",
    "Exercise",
    "Family",
    "Script",
    "call",
    "changed_checks",
    "device",
    "exercise",
    "generator",
    "helper",
    "method",
    "non_contiguous",
    "ref",
    "sample_model",
    "step",
    "student",
    "tagged",
    "wrapped",
]

Cases = Callable[[Draw], Iterable[Case]]
SIZES = "the smallest and large sizes, and the ends of each range"


@dataclass(eq=False)
class Criterion:
    """A requirement. `points`: its share of the exercise's points, or these points themselves (`adapted.py`).

    names_mistakes  whether its cases show which known mistake an answer makes; False for those of `Exercise.sizes`
    """

    name: str
    points: float
    draw: Cases
    check_types: bool = False
    graded_only: str = ""
    tries: tuple[str, ...] = ()
    names_mistakes: bool = True


@dataclass(eq=False)
class Example:
    """A visible case, which the learner's own `check` runs."""

    name: str
    make: Callable[[], Iterable[Case]]
    check_types: bool = False


@dataclass(eq=False)
class Mistake(Answer):
    """A wrong answer that people give, and the feedback on it.

    loses     the criteria that it must lose
    when      the tag of a checker's finding (see `tagged`) that always means this mistake, whatever the numbers are
    clause    the clause of the contract that it breaks, and no other
    text      explains to the learner what is wrong and what to look at, without the solution
    see       heading of the lesson to read
    variants  the same mistake with other values of a constant (see `for_each`)
    base      the correct answer that it is an edit of; None if its full code is given
    edits     the edits that turn that answer into the mistake, in order
    family    id of the family that it shares with mistakes of other exercises (see `Family`), or ""
    """

    loses: tuple[str, ...] = ()
    when: str = ""
    clause: str = ""
    text: str = ""
    see: str = ""
    variants: list[Answer] = field(default_factory=list)
    base: CorrectAnswer | None = None
    edits: list[Callable[[str], str]] = field(default_factory=list)
    family: str = ""

    @property
    def all_forms(self) -> list[Answer]:
        """All answers of this name: the mistake itself and its variants."""
        return [self, *self.variants]

    def patch(self, lines: str) -> Mistake:
        """Derive it from the correct answer by a patch (see `answer_text.apply_patch`)."""
        return self._edit(partial(apply_patch, patch=lines))

    def full_code(self, code: str) -> Mistake:
        """Set its full code, if it is a different algorithm."""
        self.code = block(code)
        return self

    def for_each(self, **values: Iterable[object]) -> Mistake:
        """Repeat the mistake with each value of a placeholder, as in `FILL=(-1e9, -1e4)`.

        The placeholder is a word in capitals in its text. It is replaced by the value if that is text, else by its
        repr.
        """
        ((word, among),) = values.items()
        first, *others = among
        with_placeholder = self.code
        self._edit(partial(fill_placeholder, word=word, value=first))
        self.variants = [
            Answer(self.exercise_name, f"{self.name} ({word}={value})", fill_placeholder(with_placeholder, word, value))
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
    """A correct answer, which mistakes may be edits of. `clause`: what the contract permits, and this answer uses."""

    exercise: Exercise | None = None
    clause: str = ""

    def mistake(
        self,
        name: str | Family,
        edit: Mapping[str, str] | None = None,
        *,
        loses: str | Iterable[str] = (),
        when: str = "",
        clause: str = "",
    ) -> Mistake:
        """Add a known mistake that is an edit of this answer.

        name   its name, or a family, which may also define the edit
        edit   text to replace -> new text; without it, call `Mistake.patch` next
        loses  the criteria that it must lose, each by the first words of its name; a step's need not name any
        when   the tag of a checker's finding that means this mistake
        clause the clause of the contract that it breaks, and no other: it loses a case that tries it, and no other case
        """
        assert self.exercise is not None
        made = self.exercise.mistake(name, loses=loses, when=when, clause=clause)
        made.code, made.base = self.code, self
        if edit:
            return made._edit(partial(apply_edits, edit=edit))
        if isinstance(name, Family) and (make := name.make) is not None:
            return made._edit(lambda code: make(code, self.exercise_name))
        return made


@dataclass(eq=False)
class Exercise:
    """One exercise of a lesson; see `exercise`. With `is_step` it is without points; see `step`."""

    name: str
    forbidden: tuple[str, ...] = ()
    see: str = ""
    hints: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()
    is_step: bool = False
    answer: Any = None
    criteria: list[Criterion] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    alternatives: list[CorrectAnswer] = field(default_factory=list)
    reference_answers: list[CorrectAnswer] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def oracle(self, answer: Any) -> Any:
        """Set the correct answer that defines what is right; it may use forbidden functions.

        It is independent of the lesson's solution. Its source must be complete except for torch, nn, F and math,
        because follow-through sends it to the kernel.
        """
        self.answer = answer
        return answer

    def criterion(
        self,
        name: str,
        *,
        points: float = 0.0,
        tries: str = "",
        check_types: bool = False,
        graded_only: str = "",
    ) -> Callable[[Cases], Cases]:
        """Add a criterion, earned if every case that the decorated generator yields is right.

        points       its share of the points that the lesson's text gives the exercise; those of a step may have none
        tries        ids of the contract's clauses that its cases try, separated by spaces (`Case.tries`)
        check_types  dtype and type are checked here; all other criteria of the exercise then compare only values
        graded_only  why the learner's own `check` has no practice cases for it; few criteria need this
        """

        def add(draw: Cases) -> Cases:
            self.criteria.append(Criterion(name, points, draw, check_types, graded_only, tuple(tries.split())))
            return draw

        return add

    def sizes(self, *, points: float, **sizes: tuple[Any, Any, Any]) -> Callable[[Callable[..., Case]], Any]:
        """Add the criterion of sizes, whose cases the decorated function `(draw, **sizes)` draws, one by one.

        sizes  name -> its least, usual and largest value, as the contract permits; where it permits any, one that a
               plain right answer takes at most 0.2 seconds for, and of an open range, one just inside its end

        The first case has the least of each, the others one at an end beside the usual ones. No mistake is named by
        them: at such a size, different mistakes give the same.
        """

        def add(make: Callable[..., Case]) -> Any:
            def ladder(draw: Draw) -> Iterator[Case]:
                usual = {name: middle for name, (_, middle, _) in sizes.items()}
                yield make(draw, **{name: least for name, (least, _, _) in sizes.items()})
                for name, (least, _, largest) in sizes.items():
                    for end in (least, largest) if len(sizes) > 1 else (largest,):
                        yield make(draw, **usual | {name: end})

            self.criteria.append(Criterion(SIZES, points, ladder, names_mistakes=False))
            return make

        return add

    def example(
        self, name: str, *cases: Case, check_types: bool = False
    ) -> Callable[[Callable[[], Iterable[Case]]], Any]:
        """Add visible cases: passed here, or yielded by the decorated generator.

        Their numbers should be small enough to compute on paper.

        check_types  dtype and type are checked, as in the criterion of that kind
        """
        made = Example(name, lambda: cases, check_types)
        self.examples.append(made)

        def add(make: Callable[[], Iterable[Case]]) -> Any:
            made.make = make
            return make

        return add

    @property
    def points(self) -> float:
        """The sum of its criteria's."""
        total = sum(criterion.points for criterion in self.criteria)
        return int(total) if total == int(total) else total

    def alternative(self, name: str) -> CorrectAnswer:
        """The answer of this title in alternatives.py, to derive mistakes from.

        Raises LookupError.
        """
        for right in self.alternatives:
            if right.name == name:
                return right
        raise LookupError(f"{self.name} has no alternative {name!r}; it has {[a.name for a in self.alternatives]}")

    def reference_answer(self, code: str) -> CorrectAnswer:
        """Add a correct answer to derive mistakes from; it may use forbidden functions."""
        right = CorrectAnswer(self.name, f"base {len(self.reference_answers) + 1}", block(code), exercise=self)
        self.reference_answers.append(right)
        return right

    def mistake(
        self, name: str | Family, *, loses: str | Iterable[str] = (), when: str = "", clause: str = ""
    ) -> Mistake:
        """A known mistake that is not an edit of a right answer; `Mistake.full_code` gives its text."""
        family = name if isinstance(name, Family) else Family("", name, "")
        if any(known.name == family.name for known in self.mistakes):
            raise ValueError(f"{self.name}: two mistakes are called {family.name}")
        starts = (loses,) if isinstance(loses, str) else tuple(loses)
        lost = tuple(map(self._criterion, starts))
        made = Mistake(self.name, family.name, "", lost, when, clause, family.sentence, family.see or self.see)
        made.family = family.id
        self.mistakes.append(made)
        return made

    def _criterion(self, start: str) -> str:
        """The name of the only criterion that begins with `start`. Raises ValueError."""
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
        """The oracle's source, which defines a correct answer under the exercise's name.

        It has no other name, because the error of a wrong call would show that. An alternative would not do: it may be
        exact enough for this exercise, but not for one that builds on it.
        """
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.answer)))
        for made in tree.body:
            if isinstance(made, (ast.FunctionDef, ast.ClassDef)):
                made.decorator_list, made.name = [], self.name
        return ast.unparse(tree)

    @cached_property
    def sealed(self) -> str:
        """The stand-in as sent to a kernel: code that runs and has no source text to print."""
        return compile_stand_in(self.stand_in)

    def cases(self, seed: int) -> list[tuple[Criterion, list[Case]]]:
        """All hidden cases, bound; equal seeds give equal cases on every machine."""
        return [
            (c, [self._bound(case, c) for case in c.draw(Draw(mix(seed, self.name, c.name)))]) for c in self.criteria
        ]

    def visible(self) -> Iterator[tuple[str, Case]]:
        for example in self.examples:
            for case in example.make():
                yield example.name, self._bound(case, example)

    def _bound(self, case: Case, of: Criterion | Example) -> Case:
        """Bind a case to a criterion or an example, which decides whether types are checked.

        They are checked everywhere if no criterion has `check_types`.
        """
        check_types = of.check_types or not any(c.check_types for c in self.criteria)
        reason = case.graded_only_reason or (of.graded_only if isinstance(of, Criterion) else "")
        bound = bind_arguments(case, self.name, self.answer)
        stated = case.clauses or (of.tries if isinstance(of, Criterion) else ())
        clauses = stated + conventions(case, of.check_types)
        options = replace(bound.options, check_types=check_types)
        return replace(bound, options=options, graded_only_reason=reason, clauses=clauses)


def exercise(
    name: str,
    *,
    result_names: Iterable[str] = (),
    forbidden: Iterable[str] = (),
    see: str = "",
    hints: Iterable[str] = (),
) -> Exercise:
    """Declare an exercise. Its points are those of its grade cell in the lesson's text.

    result_names  names of the items of a tuple that the exercise returns, ("output", "weights"), for reports
    forbidden     regular expressions for names of torch functions that an answer must not use, in any spelling:
                  each is matched against whole names without underscores and case (`log_softmax` also stops
                  `F.log_softmax`, `x.log_softmax`, `nn.LogSoftmax`; "distributions" also stops torch.distributions.*).
                  Every exercise forbids the correct implementations that the package `course` ships
    see           heading in the lesson that a report refers to
    hints         in stages: a question, then the idea, then the shape of the code; never the solution
    """
    return Exercise(name, (*forbidden, PACKAGE), see, tuple(hints), tuple(result_names))


def step(
    name: str,
    *,
    result_names: Iterable[str] = (),
    forbidden: Iterable[str] = (),
    see: str = "",
    hints: Iterable[str] = (),
) -> Exercise:
    """Declare a step: an exercise that `check` checks, and that earns no points.

    If its criteria have points, these are shares: it is proved as a graded exercise, with mutants and recorded
    verdicts. The rest is as for `exercise`.
    """
    return Exercise(name, (*forbidden, PACKAGE), see, tuple(hints), tuple(result_names), is_step=True)


def mix(*parts: object) -> int:
    """A seed from several parts, the same on every machine (unlike `hash`)."""
    return zlib.crc32("\x1f".join(map(str, parts)).encode())
