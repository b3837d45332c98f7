"""The sample models of lesson 14 do what their data say, and refuse calls that the contract does not have."""

from __future__ import annotations

import pytest
import torch

from course.sample_models import grammar, verifier

RULES = [{"a": 1, "b": 0}, {"b": 2}, {}]


@pytest.mark.parametrize(("form", "start", "end"), [("number", 0, 2), ("text", "", "ss"), ("list", [0], [2])])
def test_a_grammar_follows_its_rules_in_states_of_any_form(form, start, end):
    advance = grammar(RULES, form)
    assert advance(start, "b") == start
    assert advance(advance(start, "a"), "b") == end
    assert advance(start, "c") is None
    assert advance(end, "a") is None


def test_a_grammar_takes_one_character_and_a_state_of_its_own():
    advance = grammar(RULES)
    for state, character in ((None, "a"), (0, "ab"), (0, ""), (0, 97), (7, "a"), ("", "a")):
        with pytest.raises(TypeError):
            advance(state, character)


DRAFT, TARGET = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([0.25, 0.25, 0.5])


def asked(token, chance, *, draft=DRAFT, target=TARGET):
    verify = verifier(DRAFT, TARGET, torch.tensor([0.5, 1.0, 0.0]), torch.eye(3).roll(1, 0))
    rows = torch.stack([target, torch.tensor([1.0, 0.0, 0.0])])
    return verify(torch.tensor([token]), draft[None], rows, torch.tensor([chance]))


def test_a_verifier_decides_by_its_thresholds_and_corrects_by_its_rows():
    for token, chance, accepted, probabilities in (
        (0, 0.49, 1, [1.0, 0.0, 0.0]),
        (0, 0.5, 0, [0.0, 0.0, 1.0]),
        (1, 0.999, 1, [1.0, 0.0, 0.0]),
        (2, 0.0, 0, [0.0, 1.0, 0.0]),
    ):
        found = asked(token, chance)
        assert found[0] == accepted
        assert found[1].tolist() == probabilities


def test_a_verifier_refuses_other_shapes_and_other_distributions():
    verify = verifier(DRAFT, TARGET, torch.ones(3), torch.eye(3))
    with pytest.raises(ValueError, match=r"draft has the shape \(3,\)"):
        verify(torch.tensor([0]), DRAFT, torch.stack([TARGET, TARGET]), torch.tensor([0.5]))
    with pytest.raises(ValueError, match="of draft is another"):
        asked(0, 0.5, draft=TARGET)
    with pytest.raises(ValueError, match="of target is another"):
        asked(0, 0.5, target=DRAFT)
