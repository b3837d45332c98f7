"""A chain of ids counts looks, and joins neighbours in place."""

import pytest

from course.checkers import NamedChecker
from course.harness.program import Observation
from course.sample_models import LinkedIds


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
