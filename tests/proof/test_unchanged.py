"""Survivors that do nothing in any case are recognised, and those for which a case is missing are not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grading.exercises.exercise import Exercise, call, exercise
from grading.proof.mutants import mutants
from grading.proof.mutation_runs import try_mutants
from grading.proof.unchanged import why_unchanged

RIGHT = "def double(x):\n    return 2 * x"
PAIR = "def double(x):\n    if x.ndim == 9:\n        return x.clone()\n    return 2 * x"
FLOAT, DETACH = "It is float already in every case.", "It has no gradient in any case."
SEEDS = (0, 1)


def doubling(*cases: Any) -> Exercise:
    made = exercise("double")

    @made.oracle
    def oracle(x):
        return 2 * x

    @made.criterion("values", points=1)
    def _(draw):
        yield from cases

    return made


def names(code: str) -> dict[str, Any]:
    made: dict[str, Any] = {"torch": torch}
    exec(code, made)
    return made


def found(made: Exercise, code: str = RIGHT) -> dict[str, str]:
    """Survivor -> why it is recognised, or ""."""
    survivors = try_mutants(made, mutants({"solution": code}), names, SEEDS, {}).survivors
    return {one.edit.partition(" -> ")[2]: why_unchanged(made, one, names, SEEDS) for one in survivors}


def plain(dtype: torch.dtype = torch.float32) -> Any:
    return call(torch.tensor([[1.0, 2.0, -3.0], [0.5, 7.0, 4.0]], dtype=dtype))


def test_a_cast_to_the_dtype_that_it_has_and_a_detach_without_a_graph_do_nothing():
    assert found(doubling(plain())) == {"return (2 * x).float()": FLOAT, "return (2 * x).detach()": DETACH}
    whole = found(doubling(call(torch.tensor([[1, 2, -3], [5, 7, 4]]))))
    assert whole["return (2 * x).long()"] == "It is long already in every case."


def test_what_a_case_asks_for_is_caught_and_no_survivor():
    assert found(doubling(plain(), plain(torch.float64), plain().with_gradients())) == {}


def test_a_survivor_of_another_kind_needs_a_case():
    lonely = doubling(call(torch.tensor([[3.0]])))
    assert found(lonely)["return (2 * x).transpose(-2, -1)"] == ""


def test_a_place_that_no_case_reaches_is_not_recognised():
    survivors = found(doubling(plain()), PAIR)
    assert survivors["return x.clone().float()"] == ""
    assert survivors["return (2 * x).float()"] == FLOAT


@pytest.mark.parametrize(
    "code", ["def double(x):\n    return (2 * x).float()", "def double(x):\n    return 2 * x.detach()"]
)
def test_what_the_base_itself_casts_or_detaches_is_left_alone(code):
    assert all(why in (FLOAT, DETACH) for edit, why in found(doubling(plain()), code).items() if edit.endswith(")"))
