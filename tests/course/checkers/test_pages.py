"""What a learner is told of a cache in pages that is not like a right one."""

from __future__ import annotations

import pytest
import torch

from course.checkers import NamedChecker
from course.harness.program import Observation

ROWS = torch.arange(12.0).reshape(4, 1, 3)
OTHER = ROWS.clone()
OTHER[2] += 1.0

TOLD = {
    "first": ["free", "", ""],
    "read": ["read", "a", "append(a, 4 positions)"],
    "tables": ["tables", "a, b", "b = fork(a)"],
    "pool": ["stored", "keys of a", "b = fork(a)"],
    "ids": ["ids", "", "b = fork(a)"],
    "shape": ["shape", "keys", ""],
    "refused": ["refused", "append(a, (2, 3), (2, 1, 3))", "b = fork(a)"],
}
RIGHT = {
    "first": 3,
    "read": (ROWS, -ROWS),
    "tables": [[[0, 1], [0, 1]]],
    "pool": ROWS,
    "ids": [0, 1],
    "shape": (4, 2, 1, 3),
    "refused": {"type": "ValueError", "says": [True, True]},
}
CHECKER = NamedChecker("like_a_right_cache", {"told": TOLD})


def said(**changed: object) -> str | None:
    return CHECKER(Observation(RIGHT | changed), Observation(dict(RIGHT)))


def test_a_cache_that_is_like_a_right_one_passes():
    assert said() is None
    assert said(read=[ROWS + 1e-3, -ROWS], shape=[4, 2, 1, 3]) is None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"first": 2}, "`n_free`: expected 3, got 2"),
        ({"first": True}, "`n_free`: expected 3, got True"),
        ({"read": (ROWS, -OTHER)}, "after append(a, 4 positions): read(a), values: wrong at position 2 of 4"),
        ({"read": (ROWS[:3], -ROWS)}, "read(a), keys: expected shape (4, 1, 3), got (3, 1, 3)"),
        ({"read": ROWS}, "read(a): expected (keys, values)"),
        ({"read": (ROWS, None)}, "read(a), values: expected a tensor, got a NoneType"),
        ({"tables": [[[0, 1], [2, 3]]]}, "after b = fork(a): block tables of a, b, with pages renumbered"),
        ({"tables": [[torch.tensor([0, 1]), [0, 1]]]}, "tables of a, b"),
        ({"pool": OTHER}, "keys of a, read from the first pool through the block table: wrong at position 2 of 4"),
        ({"ids": [0, 0]}, "two texts got the same id"),
        ({"shape": (4, 1, 2, 3)}, "shape of `keys`: expected (4, 2, 1, 3), got (4, 1, 2, 3)"),
        ({"refused": {"type": "", "says": []}}, "expected ValueError, got no error"),
        ({"refused": {"type": "KeyError", "says": []}}, "expected ValueError, got KeyError"),
        ({"refused": {"type": "ValueError", "says": [True, False]}}, "does not name the wrong argument and its shape"),
    ],
)
def test_the_first_difference_is_told_in_words(changed, words):
    assert words in str(said(**changed))


def test_many_positions_are_not_all_listed():
    wanted = torch.zeros(40, 1, 1)
    checker = NamedChecker("like_a_right_cache", {"told": {"read": ["read", "a", ""]}})
    found = checker(Observation({"read": (wanted + 1, wanted)}), Observation({"read": (wanted, wanted)}))
    assert found == "read(a), keys: wrong at positions 0, 1, 2, 3, 4, 5, … of 40"
