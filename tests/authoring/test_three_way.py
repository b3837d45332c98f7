"""Three-way merges take what one side changed and lose nothing silently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.authoring.three_way import Merged, Outcome, merge_lines, merge_order, merge_value

from ..support.fuzz_bounds import fuzz_settings

LINES = st.lists(st.sampled_from("abcdef"), max_size=8).map(
    lambda letters: "".join(f"{letter}\n" for letter in letters)
)
TEXTS = st.none() | LINES
KEYS = st.lists(st.integers(0, 9), unique=True, max_size=8)


@fuzz_settings(200)
@given(TEXTS, TEXTS)
def test_a_text_unchanged_on_one_side_becomes_the_other_sides(base, changed):
    assert merge_value(base, base, changed).value == merge_value(base, changed, base).value == changed
    assert merge_value(base, changed, changed) == Merged(changed, Outcome.SAME)


@fuzz_settings(200)
@given(LINES, LINES, LINES, LINES, LINES)
def test_changes_to_different_lines_are_both_made(first, second, ours, theirs, middle):
    between = f"x\n{middle}y\n"  # lines that neither side changed
    merged = merge_lines(f"{first}{between}{second}", f"{ours}{between}{second}", f"{first}{between}{theirs}")
    assert merged == f"{ours}{between}{theirs}"


@fuzz_settings(200)
@given(LINES, LINES, LINES)
def test_a_merge_of_lines_prefers_no_side(base, ours, theirs):
    assert merge_lines(base, ours, theirs) == merge_lines(base, theirs, ours)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\n", "b\n", "c\n", Merged("b\n", Outcome.CONFLICT)),
        ("a\nb\n", "x\nb\n", "a\ny\n", Merged("x\nb\n", Outcome.CONFLICT)),  # touching edits may belong together
        ("a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n", Merged("x\nb\ny\n", Outcome.MERGED)),
        ("a\n", None, "b\n", Merged(None, Outcome.LEFT_OUT)),
        ("a\n", "b\n", None, Merged("b\n", Outcome.CONFLICT)),
        (None, "a\n", "b\n", Merged("a\n", Outcome.CONFLICT)),
        (None, None, "b\n", Merged("b\n", Outcome.TAKEN)),
        ("a\n", None, "a\n", Merged(None, Outcome.OURS)),
        ("a\n", "a\n", None, Merged(None, Outcome.TAKEN)),
    ],
)
def test_each_kind_of_change_has_its_outcome(base, ours, theirs, merged):
    assert merge_value(base, ours, theirs) == merged


@fuzz_settings(200)
@given(KEYS, KEYS)
def test_the_order_of_one_side_is_kept_if_the_other_did_not_change_it(base, changed):
    for merged in (merge_order(base, base, changed), merge_order(base, changed, base)):
        assert [key for key in merged if key in changed] == changed
        assert set(merged) == {*base, *changed}


def test_an_added_item_follows_the_same_item_as_on_its_side():
    assert merge_order("abc", "abxc", "aybc") == ["a", "y", "b", "x", "c"]
    assert merge_order("abc", "ac", "abyc") == ["a", "b", "y", "c"]
    assert merge_order("abc", "abcx", "cab") == ["c", "x", "a", "b"]
    assert merge_order("abc", "bac", "cab") == ["b", "a", "c"]  # both moved something: our order wins
