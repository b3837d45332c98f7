"""Properties: judges that a case names."""

from __future__ import annotations

import pytest
import torch

from course.checkers import PROPERTIES, Property
from course.harness.check_case import judge
from course.harness.compare import Reference
from course.harness.helpers import HELPERS
from course.harness.program import Observation
from course.harness.serialization import pack, unpack


def result(value: object) -> Observation:
    return Observation({"result": value}, devices=["cpu"])


def test_a_property_judges_by_its_name_and_what_it_is_given():
    holds = Property(*unpack(pack(["windows", {"data": torch.arange(9), "block_size": 2, "batch_size": 1}])))
    reference = Reference(result(None), result((torch.tensor([[3, 4]]), torch.tensor([[4, 5]]))), holds=holds)
    assert judge(reference.native, reference) is None
    found = judge(result((torch.tensor([[3, 4]]), torch.tensor([[3, 4]]))), reference)
    assert found is not None
    assert "not the tokens one step after" in found.text


def test_what_is_not_of_the_right_form_is_the_results_fault():
    reference = Reference(result(None), result(torch.tensor(0.0)), holds=Property("next_to_nothing", {}))
    found = judge(result("text"), reference)
    assert found is not None
    assert "not of the form" in found.text


def test_a_name_that_there_is_not_is_told_with_those_that_there_are():
    with pytest.raises(LookupError, match=r"no property 'wrong'; there are .*windows"):
        Property("wrong", {})


def test_what_a_property_does_not_take_is_refused_when_the_case_is_made():
    with pytest.raises(TypeError, match="n_starts"):
        Property("evenly", {"data": torch.arange(5)})


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_every_property_says_what_it_judges(name):
    assert PROPERTIES[name].__doc__


def shaped(message: str) -> bool:
    def refuse() -> None:
        raise ValueError(message)

    seen = Observation({"refusal": HELPERS["refusal"]([["h.1.ln_1.bias"], [[9, 4]]], refuse)})
    asked = Property("refused", {"kind": "ValueError", "told": ["whose shape it is", "the shape"]})
    found = asked(seen, seen)
    assert found is None or "does not say the shape" in str(found)
    return found is None


@pytest.mark.parametrize("shape", ["(9, 4)", "[9,4]", "torch.Size([9, 4])", "9x4", "9 x 4", "9 × 4"])
def test_a_shape_may_be_told_in_any_notation(shape):
    assert shaped(f"h.1.ln_1.bias has the shape {shape}")


@pytest.mark.parametrize("shape", ["(4, 9)", "(9,)", "94", "9x5", "h.9.4"])
def test_another_shape_is_not_the_one_asked_for(shape):
    assert not shaped(f"h.1.ln_1.bias has the shape {shape}")
