"""The sample models of lesson 14 do what their data say, and refuse calls that the contract does not have."""

from __future__ import annotations

import copy

import pytest
import torch

from course.checkers import NamedChecker
from course.harness.program import Observation
from course.sample_models import LinkedIds, State, grammar, strict, verifier

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


def test_a_strict_state_is_only_itself():
    advance, start = grammar(RULES, "strict"), State(0)
    assert advance(advance(start, "a"), "b").number == 2 and advance(start, "c") is None
    assert not start and start == None and start != None and start == 3  # noqa: E711
    for misuse in (hash, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            misuse(start)


def test_a_strict_model_is_a_function_of_int64_ids_by_position():
    model = torch.nn.Embedding(5, 5)
    ask, ids = strict(model), torch.tensor([[1, 4]])
    assert torch.equal(ask(ids), model(ids)) and not hasattr(ask, "parameters")
    for misuse in (lambda: ask(ids=ids), lambda: ask(ids, 1), lambda: ask(ids[0]), lambda: ask(ids.int())):
        with pytest.raises(TypeError, match="the model takes"):
            misuse()


DRAFT, TARGET = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([0.25, 0.25, 0.5])


def asked(token, chance, *, draft=DRAFT, target=TARGET, second=(1.0, 0.0, 0.0)):
    verify = verifier(DRAFT, TARGET, torch.tensor([0.5, 1.0, 0.0]), torch.eye(3).roll(1, 0))
    rows = torch.stack([target, torch.tensor(second)])
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
    with pytest.raises(ValueError, match="the second row of target is no distribution"):
        asked(0, 0.5, second=(0.0, 0.0, 0.0))
    for token, chance, name in ((3, 0.5, "drafted"), (-1, 0.5, "drafted"), (0, 1.5, "chances"), (0, -0.1, "chances")):
        with pytest.raises(ValueError, match=f"^{name} is"):
            asked(token, chance)


def walked(ids):
    found, position = [], ids.first
    while position is not None:
        found.append(position)
        position = ids.after(position)
    return found


def test_a_joined_position_stays_and_the_next_is_gone():
    ids = LinkedIds([1, 2, 3, 4])
    ids.join(1, 256)
    assert walked(ids) == [0, 1, 3]
    assert ids.before(3) == 1
    assert [ids.pair(position) for position in range(4)] == [(1, 256), (256, 4), None, None]


def test_each_look_is_counted():
    ids = LinkedIds([1, 2, 3])
    assert ids.pair(0) == (1, 2) and ids.pair(2) is None
    assert ids.looks == 2


def test_an_empty_chain_has_no_first_position():
    assert LinkedIds([]).first is None


@pytest.mark.parametrize("position", [1, 2])
def test_where_there_is_no_pair_nothing_can_be_joined(position):
    ids = LinkedIds([1, 2, 3])
    ids.join(1, 256)
    with pytest.raises(ValueError, match=f"position {position}"):
        ids.join(position, 257)


@pytest.mark.parametrize(("looks", "right"), [(36, True), (37, False)])
def test_twice_the_ids_and_eight_times_the_joins_are_allowed(looks, right):
    judge = NamedChecker("looks_only_at_changes", {"n_ids": 10, "joins": 2})
    seen = Observation(values={"looks": looks})
    assert (judge(seen, seen) is None) == right
