"""Which texts count as equivalent answers, and which never may."""

from __future__ import annotations

import time

import pytest

from grading.plugins.review.like_answers import normalised

ALIKE = [
    ("Because the **variance** grows.", "because the  variance\ngrows"),
    ("- It’s `slow`!", "its slow"),
    ("# Saturates", "saturates"),
    ("“The gradient vanishes”, so it stops.", "The gradient vanishes so it stops"),
    ("2 − 1", "2 - 1"),
]
UNLIKE = [
    ("x = 1.5", "x = 15"),
    ("a + b", "a - b"),
    ("- x", "x"),
    ("x²", "x2"),
    ("!mask", "mask"),
    ("f'", "f"),
    ("n!", "n"),
    ("x[1:2]", "x[12]"),
    ("a(b + c)", "ab + c"),
    ("2*3", "23"),
    ("a_b", "ab"),
    ("1,000", "1000"),
    ("> 3", "3"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_equivalent_answers_are_grouped(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_meaningful_differences_keep_answers_apart(one, other):
    assert normalised(one) != normalised(other)


def test_in_code_only_line_ends_and_empty_lines_are_ignored():
    assert normalised("x = 1  \n\n", code=True) == normalised("x = 1", code=True)
    assert normalised("if a:\n    b", code=True) != normalised("if a:\nb", code=True)
    assert normalised("X", code=True) != normalised("x", code=True)


@pytest.mark.parametrize("part", ["*", "- ", ".", "a!", "`", " ", "\n", "#", "'", "\n - ", ".!"])
def test_normalising_takes_linear_time(part):
    def seconds(length: int) -> float:
        text = part * (length // len(part)) + "x"
        return min(_timed(text) for _ in range(3))

    assert seconds(400_000) < 10 * max(seconds(100_000), 0.002)


def _timed(text: str) -> float:
    begun = time.process_time()
    normalised(text)
    return time.process_time() - begun
