"""Generators of cases in `grader_tests/shared/families/cases.py`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch

from grading.exercises.exercise import Draw, Exercise, call, exercise
from grading.exercises.lesson import package_of
from grading.grader.local import grade_in_process

cases: Any = importlib.import_module(f"{package_of(Path(__file__).parents[2] / 'grader_tests')}.shared.families.cases")


def first_of(x: torch.Tensor, k: int) -> torch.Tensor:
    """The first `k` entries."""
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"k is {k}")
    return x[:k] * 1


@pytest.fixture
def first() -> Exercise:
    made = exercise("first")
    made.oracle(first_of)

    @made.criterion("refusals", points=1)
    def _(draw):
        yield from cases.refused(call, "k", (*cases.ZERO_OR_LESS, *cases.NOT_INTEGERS), draw.normal(5), right=2)

    @made.criterion("arguments", points=1)
    def _(draw):
        yield from cases.left_unchanged(call, draw.normal(5, 3), k=2)

    return made


def earned(made: Exercise, function: Any) -> list[float]:
    return [c.earned for c in grade_in_process(made, {"first": function}, seed=1).criteria]


def test_a_right_answer_earns_all_of_it(first):
    assert earned(first, first_of) == [1, 1]


@pytest.mark.parametrize(
    "check",
    [
        lambda k: k != 0 and k == int(k),  # lets the negative pass
        lambda k: k > 0,  # lets 1.5 pass
        lambda k: k == int(k) and k >= 0,  # lets 0 pass
        lambda k: False,  # refuses everything
    ],
)
def test_what_refuses_too_little_or_all_loses_the_refusals(first, check):
    def wrong(x, k):
        if not check(k):
            raise ValueError(f"k is {k}")
        return x[: int(k)] * 1

    assert earned(first, wrong) == [0, 1] if check(2) else [0, 0]


@pytest.mark.parametrize("only", [torch.float32, torch.float64])
def test_what_writes_into_its_argument_loses_the_arguments(first, only):
    def wrong(x, k):
        result = first_of(x, k)
        if x.dtype == only:
            x += 1
        return result

    assert earned(first, wrong) == [1, 0]


def test_an_answer_that_writes_into_non_contiguous_arguments_loses_them(first):
    def wrong(x, k):
        result = first_of(x, k)
        if not x.is_contiguous():
            x.zero_()
        return result

    assert earned(first, wrong) == [1, 0]


def test_settings_are_all_combinations_once():
    found = cases.settings(dropout=(0.0, 0.5), groups=(None, 1, 3))
    assert len(found) == len(set(found)) == 2 * 2 * 2 * 3 * 2
    assert len({one.label for one in found}) == len(found)
    assert {one.random for one in found if one.training} == {True, False}
    assert not any(one.random for one in found if not one.training)


@pytest.mark.parametrize("setting", cases.settings(), ids=lambda one: one.label)
def test_inputs_match_the_setting(setting):
    inputs = cases.attention_inputs(Draw(3), setting)
    assert set(inputs) == {"x"} | ({"context"} if setting.context else set()) | ({"mask"} if setting.masked else set())
    assert inputs["x"].shape == (2, 5, 12)
    if setting.masked:
        assert inputs["mask"].shape == (2, 1, 5, 7 if setting.context else 5)
        assert not inputs["mask"].all(-1).any()
        assert inputs["mask"].any()


def test_labelled_cases_show_their_label():
    plain, own = call(torch.ones(2)), call(torch.ones(2)).label("ones")
    assert [case.description for case in cases.labelled([plain, own], "twice")] == ["twice", "twice: ones"]
