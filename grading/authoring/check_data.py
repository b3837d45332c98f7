"""Export a lesson's check data, without any code of right or wrong answers to exercises.

    examples  points, hints and visible examples of all the lesson's exercises; right answers to its steps
    practice  for each exercise: practice cases, and sketches that identify known mistakes

Practice cases come from the grade's own criteria, drawn from a public seed. No course grades with this seed: a course's
hidden cases are as secret as its own seed.

Does not cover: where the files go, and how every machine makes the same ones (`check_data_files.py`).
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from course.check_data import split_packed
from course.checkers import NamedChecker
from course.data_only import ensure_data_only
from course.harness.check_case import coerced
from course.harness.diagnose import same_outcome
from course.harness.fingerprints import fingerprint, same_fingerprint, to_record
from course.harness.program import Observation
from course.harness.serialization import Node, PackingError, pack, unpack

from ..course_dir.lesson_change import LessonChange
from ..course_dir.lesson_marks import exercise_points
from ..errors import CheckDataError
from ..exercises.case import practice_text, spelled_out
from ..exercises.exercise import Exercise, Mistake
from ..exercises.lesson import load_adapted, load_lesson
from ..grader.references import (
    PRACTICE_SEED,
    PreparedCase,
    draws_other_numbers,
    judge_case,
    outcomes_of,
    practice_cases,
    prepare,
    prepare_case,
)

EXAMPLE_SEED = 0


def export_lesson(tests: Path, only: Container[str] | None = None) -> dict[str, bytes]:
    """The files under course/examples, by name, of exercises and steps.

    `only`: the exercises whose practice to make; the examples always cover the whole lesson.

    The last digits of the numbers depend on this machine; see `check_data_files.py`. Raises CheckDataError.
    """
    lesson = load_lesson(tests)
    adapted = load_adapted(tests, LessonChange(exercise_points(tests.parents[1], tests.name))).exercises
    exercises = {n: exported_examples(e) | {"points": adapted[n].points} for n, e in lesson.exercises.items()}
    examples = {"lesson": lesson.name, "exercises": exercises}
    if lesson.steps:
        examples["steps"] = {n: exported_examples(e) | {"answer": right_answer(e)} for n, e in lesson.steps.items()}
    files = {f"{lesson.name}.examples": pack(examples)}
    for name, exercise in lesson.all_tasks.items():
        if only is None or name in only:
            packed = exported_practice(exercise)
            files[f"{lesson.name}/{name}.practice"] = b"".join(zlib.compress(part, 9) for part in packed)
    return files


def exported_examples(exercise: Exercise) -> dict[str, Any]:
    """This exercise's part of the lesson's file of examples. Raises CheckDataError."""
    return {
        "points": 0.0 if exercise.is_step else exercise.points,
        "hints": list(exercise.hints),
        "see": exercise.see,
        "cases": [
            _case(exercise, name, spelled_out(p.case), p)
            for (name, _), p in zip(exercise.visible(), _prepared_examples(exercise), strict=True)
        ],
    }


def right_answer(step: Exercise) -> str:
    """A right answer to a step, as code: the notebook runs with it until the learner's own passes."""
    return step.alternatives[0].code if step.alternatives else step.stand_in


def _prepared_examples(exercise: Exercise) -> list[PreparedCase]:
    return [prepare_case(exercise, case, 0, EXAMPLE_SEED) for _, case in exercise.visible()]


@lru_cache(maxsize=8)
def outcomes_on_practice(exercise: Exercise) -> dict[str, list[Observation]]:
    """Form of a known mistake -> its results in the examples and in the practice cases."""
    programs = [p.program(()) for p in (*_prepared_examples(exercise), *practice_cases(exercise))]
    return {form.name: outcomes_of(form, programs) for mistake in exercise.mistakes for form in mistake.all_forms}


def exported_practice(exercise: Exercise) -> tuple[bytes, bytes]:
    """The packed practice file of this exercise: its cases and the known mistakes.

    Raises CheckDataError.
    """
    practice = practice_cases(exercise)
    cases = [*_prepared_examples(exercise), *practice]
    right = [fingerprint(coerced(p.reference.native, p.reference)) for p in cases]
    partly_hidden = {p.criterion for p in prepare(exercise, PRACTICE_SEED) if p.case.graded_only_reason}
    counts = [sum(p.criterion == index for p in practice) for index in range(len(exercise.criteria))]
    unchanged = {p.unchanged for p in practice if p.unchanged != p.criterion}
    record = {
        "criteria": [
            {
                "name": c.name,
                "points": 0.0 if exercise.is_step else c.points,
                "cases": n,
                "unchanged": index in unchanged,
                **({"graded_only": True} if index in partly_hidden else {}),
                **({} if c.names_mistakes else {"names": False}),
            }
            for index, (c, n) in enumerate(zip(exercise.criteria, counts, strict=True))
        ],
        "cases": [
            _case(exercise, exercise.criteria[p.criterion].name, practice_text(p.case, new), p) | {"drawn": new}
            for p, new in zip(practice, draws_other_numbers(exercise), strict=True)
        ],
    }
    mistakes = [
        {"name": m.name, "text": m.text, "see": m.see, "when": m.when}
        | {"each": _outcomes_of_forms(exercise, m, cases, right)}
        for m in exercise.mistakes
    ]
    return pack(record), pack(mistakes)


def _case(exercise: Exercise, name: str, text: str, p: PreparedCase) -> dict[str, Any]:
    r, checker = p.reference, p.case.options.check_with
    if checker and not isinstance(checker, NamedChecker):
        raise CheckDataError(
            f"{exercise.name}, {name!r}: {text} is checked by code, which check data cannot hold. Use a "
            "checker of course.checkers, or use the case only for grades: `.graded_only(why)`"
        )
    program = p.program(exercise.forbidden).to_plain()
    try:
        ensure_data_only(program, exercise.name)
    except PackingError as error:
        raise CheckDataError(
            f"{error}. See course/data_only.py, or use the case only for grades: `.graded_only(why)`"
        ) from None
    needless = checker and not checker.compares  # it does not read the right outcome
    return {
        "name": name,
        "text": text,
        "program": program,
        "exact": _outcome(Observation(raised=r.exact.raised) if needless else r.exact),
        "native": _outcome(r.native),
        "options": r.options.to_record(),
        "wrong_arguments": r.wrong_arguments,
        "input_magnitude": r.input_magnitude,
        "result_names": list(r.result_names),
    }


def _outcomes_of_forms(
    exercise: Exercise, mistake: Mistake, cases: Sequence[PreparedCase], right: Sequence[Observation]
) -> list[dict[str, Any]]:
    """Which cases a mistake fails, and its outcomes there.

    If several values of the mistake's constant give the same outcomes, they are listed once.
    """
    different: list[list[Observation]] = []
    for outcomes in (outcomes_on_practice(exercise)[form.name] for form in mistake.all_forms):
        if not any(all(map(same_outcome, outcomes, other)) for other in different):
            different.append(outcomes)
    return [_missed(cases, right, outcomes) for outcomes in different]


def _missed(
    cases: Sequence[PreparedCase], right: Sequence[Observation], outcomes: Sequence[Observation]
) -> dict[str, Any]:
    """The cases that a mistake fails, and its outcomes that differ from right ones.

    Where there is no single right value, an outcome may differ and still be right.
    """
    sketches = [fingerprint(coerced(seen, p.reference)) for p, seen in zip(cases, outcomes, strict=True)]
    named = [i for i, p in enumerate(cases) if p.names]
    misses = [i for i in named if judge_case(cases[i], outcomes[i])]
    differs = [i for i in named if i in misses or not same_outcome(sketches[i], right[i])]
    return {"misses": misses, "differs": differs, "outcomes": [to_record(sketches[i]) for i in differs]}


def _outcome(seen: Observation) -> dict[str, Any]:
    """The outcome as data.

    Removes the line of code that raised an error, since it is a line of the oracle.
    """
    outcome = seen.to_plain()
    if outcome["raised"]:
        outcome["raised"] = {**outcome["raised"], "line": ""}
    return outcome


def same_examples(one: bytes, other: bytes) -> bool:
    """Whether two exports say the same. Numbers may differ by rounding: a processor other than x86-64 adds in another
    order, and its build must not change what is committed. Gradients that cancel out lose four digits of float32."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, torch.Tensor):
            room = 1e-6 if a.dtype == torch.float64 else 1e-4
            return (
                isinstance(b, torch.Tensor)
                and a.dtype == b.dtype
                and a.shape == b.shape
                and torch.allclose(a.double(), b.double(), rtol=10 * room, atol=room, equal_nan=True)
            )
        if isinstance(a, Node) and isinstance(b, Node) and a.kind == b.kind == "sketch":
            return same_fingerprint(a, b)
        if isinstance(a, Node):
            return isinstance(b, Node) and a.kind == b.kind and same(vars(a), vars(b))
        if isinstance(a, dict):
            return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, (list, tuple)):
            return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, float) and isinstance(b, float):
            return a == b or (a != a and b != b) or abs(a - b) <= 1e-6 + 1e-5 * abs(a)
        return bool(a == b)

    try:
        return same(_opened(one), _opened(other))
    except PackingError:
        return False


def _opened(blob: bytes) -> Any:
    """Unpack a practice file, or otherwise a file of examples."""
    try:
        packed = split_packed(blob)
    except PackingError:
        return unpack(blob)
    return list(map(unpack, packed))
