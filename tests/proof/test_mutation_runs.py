"""A mutant is judged like an answer, and what the judge raises is ours."""

from __future__ import annotations

import pytest
import torch

from grading.exercises.exercise import Exercise, call, exercise
from grading.proof.mutants import Mutant
from grading.proof.mutation_runs import lost_criteria, try_mutants

RIGHT = "def double(x):\n    return 2 * x"


def doubling(holding=None) -> Exercise:
    made = exercise("double")

    @made.oracle
    def oracle(x):
        return 2 * x

    @made.criterion("values", points=1)
    def _(draw):
        case = call(draw.normal(3)).timeout(0.2)
        yield case.check_with(holding) if holding else case

    @made.criterion("gradients", points=1)
    def _(draw):
        yield call(draw.normal(3)).with_gradients()

    @made.criterion("even numbers", points=1)
    def _(draw):
        yield call(torch.tensor([2.0 * draw.integer(0, 2)]))

    return made


def names(code: str) -> dict[str, object]:
    made: dict[str, object] = {"torch": torch}
    exec(code, made)
    return made


def tried(code: str, seeds=(0, 1, 2), **alone: str):
    return try_mutants(doubling(), [Mutant("base", code, code)], names, seeds, alone)


@pytest.mark.quick_cases("raise SystemExit", "return torch.zeros*")
@pytest.mark.parametrize(
    "body",
    ["raise SystemExit", "return 1 / 0", "return None", "while True: pass", "x.add_(1)", "return torch.zeros(10**15)"],
)
def test_every_outcome_costs_a_mutant_as_much_as_an_answer(body):
    found = tried(f"def double(x):\n    {body}")
    assert not found.survivors
    assert found.caught == {"values": 1}


def test_an_answer_that_was_not_made_loses_everything():
    assert list(lost_criteria(doubling(), {}, 0)) == ["values", "gradients", "even numbers"]


def test_a_right_answer_survives_and_is_tried_with_every_seed():
    found = tried(RIGHT)
    assert [str(mutant) for mutant in found.survivors] == [f"base, {RIGHT}"]
    assert found.caught == {}


def test_a_mutant_that_only_one_criterion_catches_is_recorded():
    found = tried("def double(x):\n    return (2 * x).detach()")
    assert list(found.alone) == ["gradients"]
    assert tried("def double(x):\n    return 3 * x").alone == {}
    assert tried("def double(x):\n    return (2 * x).detach()", gradients="mistake known").alone == {
        "gradients": "mistake known"
    }


def test_a_mutant_that_only_some_seeds_catch_is_caught_and_reported():
    wrong = "def double(x):\n    return 2 * x + (1.0 if len(x) == 1 and float(x) == 2 else 0.0)"
    seeds = tuple(range(8))
    shown = [seed for seed in seeds if list(lost_criteria(doubling(), names(wrong), seed))]
    assert 0 < len(shown) < len(seeds)
    found = [try_mutants(doubling(), [Mutant("base", str(i), wrong)], names, seeds, {}) for i in range(20)]
    assert not any(one.survivors for one in found)
    assert 0 < sum(len(one.lucky) for one in found) < len(found)


def test_an_error_of_the_judge_is_raised():
    def judge(seen, exact):
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        try_mutants(doubling(judge), [Mutant("base", "", RIGHT)], names, (0,), {})
