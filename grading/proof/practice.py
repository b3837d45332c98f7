"""Comparison of the learner's own `check` with the grade, over all known answers.

The two must agree: an answer passes `check` if and only if it earns full marks, and both name the same mistake.
Forbidden functions are ignored, because mistakes may use them. The results of mistakes are not computed again: they
were observed when the exercise's practice cases were made.

Does not cover: how the grade judges answers (`prover.py`), how a report looks (`course.notebook.check`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from course.check_data import Case, CaseResults, Practice, case_of, practice_of
from course.harness.program import Observation
from course.harness.serialization import pack, unpack

from ..authoring.check_data import exported_examples, exported_practice, outcomes_on_practice
from ..exercises.exercise import Exercise
from ..grader.verdict import ExerciseVerdict


@dataclass(frozen=True)
class Disagreement:
    """One known answer on which `check` and grade differ.

    check, grade  "passes", "fails" or "fails: name"
    """

    answer: str
    check: str
    grade: str

    def __str__(self) -> str:
        return f"{self.answer}: check says {self.check!r}, the grade {self.grade!r}"


@dataclass
class Replay:
    """The differences between `check` and grade on the known answers of one exercise.

    passed   answers that only one of the two passes
    names    answers that both refuse, but name differently
    """

    answers: int = 0
    passed: list[Disagreement] = field(default_factory=list)
    names: list[Disagreement] = field(default_factory=list)

    @property
    def agree(self) -> int:
        return self.answers - len(self.passed) - len(self.names)


class Notebook:
    """A learner's `check` of one exercise, and its verdict on an answer."""

    def __init__(self, exercise: Exercise) -> None:
        examples = unpack(pack(exported_examples(exercise)))
        self.exercise = exercise.name
        self.examples = [_lenient(case_of(record)) for record in examples["cases"]]
        self.practice: Practice = practice_of(exported_practice(exercise), exercise.name)
        self.cases = [*self.examples, *map(_lenient, self.practice.cases)]

    def names_mistake(self, seen: Iterable[Observation], name: str) -> bool:
        """Whether `check` names this mistake for an answer with these observations."""
        return self.says_of(seen) == _failed(name)

    def says(self, names: Mapping[str, Any]) -> str:
        """Check the answer among these names: "passes", "fails" or "fails: name"."""
        return self._says(CaseResults(), names)

    def says_of(self, seen: Iterable[Observation]) -> str:
        """As `says`, for an answer that has already run and produced these observations."""
        observations = iter(seen)
        return self._says(CaseResults(lambda case, names: next(observations)), {})

    def _says(self, results: CaseResults, names: Mapping[str, Any]) -> str:
        results.run_cases(self.cases, names)
        if results.right:
            return "passes"
        return _failed(" + ".join(results.diagnose(self.exercise, len(self.examples), self.practice).names))


def replay(exercise: Exercise, right: Mapping[str, Mapping[str, Any]], graded: Mapping[str, ExerciseVerdict]) -> Replay:
    """Compare `check` and grade on all known answers.

    right   name of a correct answer -> the names that a notebook with it defines
    graded  name of a mistake -> the grade's verdict on it
    """
    notebook, differences = Notebook(exercise), Replay()
    for answer, by_check, by_grade in _answers(exercise, notebook, right, graded):
        differences.answers += 1
        if (by_check == "passes") != (by_grade == "passes"):
            differences.passed.append(Disagreement(answer, by_check, by_grade))
        elif by_check != by_grade:
            differences.names.append(Disagreement(answer, by_check, by_grade))
    return differences


def _answers(
    exercise: Exercise,
    notebook: Notebook,
    right: Mapping[str, Mapping[str, Any]],
    graded: Mapping[str, ExerciseVerdict],
) -> Iterator[tuple[str, str, str]]:
    for name, names in right.items():
        yield name, notebook.says(names), "passes"
    for mistake in exercise.mistakes:
        for form in mistake.all_forms:
            verdict = graded[form.name]
            wanted = "passes" if verdict.status == "right" else _failed(verdict.mistake_names.rstrip("?"))
            yield f"mistake {form.name}", notebook.says_of(outcomes_on_practice(exercise)[form.name]), wanted


def _failed(name: str) -> str:
    return f"fails: {name}" if name else "fails"


def _lenient(case: Case) -> Case:
    return replace(case, program=replace(case.program, forbidden=[]))
