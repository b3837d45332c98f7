"""Checkers that a case names."""

from __future__ import annotations

import pytest
import torch

from course.checkers import CHECKERS, NamedChecker
from course.harness.check_case import check_case
from course.harness.compare import Reference
from course.harness.helpers import HELPERS
from course.harness.options import Options
from course.harness.program import Observation
from course.harness.serialization import pack, unpack


def result(value: object) -> Observation:
    return Observation({"result": value}, devices=["cpu"])


def test_a_named_checker_calls_the_function_of_its_name_with_its_values():
    holds = NamedChecker(*unpack(pack(["windows", {"data": torch.arange(9), "block_size": 2, "batch_size": 1}])))
    reference = Reference(
        result(None), result((torch.tensor([[3, 4]]), torch.tensor([[4, 5]]))), Options(check_with=holds)
    )
    assert check_case(reference.native, reference) is None
    found = check_case(result((torch.tensor([[3, 4]]), torch.tensor([[3, 4]]))), reference)
    assert found is not None
    assert "not its inputs shifted by one" in found.text


def test_what_is_not_of_the_right_form_is_the_results_fault():
    reference = Reference(result(None), result(torch.tensor(0.0)), Options(check_with=NamedChecker("negligible", {})))
    found = check_case(result("text"), reference)
    assert found is not None
    assert "does not have the form" in found.text


def test_an_unknown_name_is_reported_with_the_known_ones():
    with pytest.raises(LookupError, match=r"no checker 'wrong'; there are .*windows"):
        NamedChecker("wrong", {})


def test_what_a_checker_does_not_take_is_refused_when_the_case_is_made():
    with pytest.raises(TypeError, match="n_starts"):
        NamedChecker("uniform_starts", {"data": torch.arange(5)})


@pytest.mark.parametrize("name", sorted(CHECKERS))
def test_every_checker_has_a_docstring(name):
    assert CHECKERS[name].__doc__


def shaped(message: str) -> bool:
    def refuse() -> None:
        raise ValueError(message)

    seen = Observation({"refusal": HELPERS["refusal"]([["h.1.ln_1.bias"], [[9, 4]]], refuse)})
    asked = NamedChecker("raises_error", {"kind": "ValueError", "told": ["whose shape it is", "the shape"]})
    found = asked(seen, seen)
    assert found is None or "does not contain the shape" in str(found)
    return found is None


@pytest.mark.parametrize("shape", ["(9, 4)", "[9,4]", "torch.Size([9, 4])", "9x4", "9 x 4", "9 × 4"])
def test_a_shape_may_be_written_in_any_notation(shape):
    assert shaped(f"h.1.ln_1.bias has the shape {shape}")


@pytest.mark.parametrize("shape", ["(4, 9)", "(9,)", "94", "9x5", "h.9.4"])
def test_another_shape_is_not_the_one_asked_for(shape):
    assert not shaped(f"h.1.ln_1.bias has the shape {shape}")
