"""Whether the learner's own `check` agrees with the grade is found out, and what keeps it from that is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from grading.course_dir import seeds
from grading.errors import CheckDataError
from grading.exercises.case import Case, Draw
from grading.exercises.exercise import Exercise, call, exercise
from grading.grader.grade_exercise import known_verdict
from grading.grader.references import PRACTICE_SEED, practice_cases
from grading.proof.practice import Replay, replay


def doubling(**options: Any) -> Exercise:
    """`double`, with a mistake that only the last criterion shows; `options` for its case."""
    double = exercise("double")

    @double.oracle
    def _(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    @double.criterion("values", points=1)
    def _(draw: Draw) -> Iterator[Case]:
        yield call(draw.normal(3, 5))

    @double.criterion("large ones", points=1, **options)
    def _(draw: Draw) -> Iterator[Case]:
        yield call(100 + draw.normal(4).abs())

    double.reference_answer("def double(x):\n    return 2 * x").mistake(
        "cuts_off", {"2 * x": "(2 * x).clamp(max=50)"}, loses="large"
    ).feedback("You cut large numbers off.")
    double.mistake("squares", loses="values").full_code("def double(x):\n    return x * x").feedback(
        "That is the square."
    )
    return double


def replayed(of: Exercise) -> Replay:
    graded = {mistake.name: known_verdict(of, mistake.name, 0) for mistake in of.mistakes}
    return replay(of, {"solution": {"double": lambda x: x + x}, "wrong": {"double": lambda x: x}}, graded)


def test_what_check_passes_and_names_is_compared_answer_by_answer():
    found = replayed(doubling())
    assert (found.answers, found.agree) == (4, 3)
    assert [str(one) for one in found.passed] == ["wrong: check says 'fails', the grade 'passes'"]
    assert found.names == []


def test_a_graded_only_criterion_has_no_practice_and_its_disagreements_are_reported():
    of = doubling(graded_only="The size is a surprise.")
    assert [p.criterion for p in practice_cases(of)] == [0]
    told = [str(one) for one in replayed(of).passed]
    assert "mistake cuts_off: check says 'passes', the grade 'fails: cuts_off'" in told


def test_a_judge_that_is_code_cannot_be_practised():
    of = exercise("double")
    of.oracle(lambda x: 2 * x)

    @of.criterion("values", points=1)
    def _(draw: Draw) -> Iterator[Case]:
        yield call(draw.normal(3)).check_with(lambda seen, exact: None)

    with pytest.raises(CheckDataError, match=r"double, 'values': .* checked by code.*graded_only"):
        replay(of, {}, {})


def test_no_course_draws_the_practice_cases():
    largest = max(seeds.seed_of(seeds.lesson_seed(f"{n:032x}", "02_softmax"), "softmax") for n in range(100))
    assert largest < 1 << 56 <= PRACTICE_SEED
