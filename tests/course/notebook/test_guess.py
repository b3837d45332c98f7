"""Guesses are read as people write them, and what cannot be one is answered with what can."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from course.notebook.guess import Unreadable, answer_in_words, describe_guess, judge

CHOICE = {"kind": "choice", "choices": ["all", "none", "the largest"], "answer": "the largest"}
NUMBER = {"kind": "number", "answer": 0.5, "tolerance": 0.01, "wrong": {"2": "Twice.", "other": "Halve it."}}
SHAPE = {"kind": "list", "answer": [4, 6], "wrong": {"(6, 4)": "The other way round."}}
TENSOR = {"kind": "list", "answer": [[0.5, 1.0], [2.0, 0.25]]}
CODE = {"kind": "code", "answer": "x.sum(-1)", "wrong": {"x.sum(0)": "That sums over the rows."}}
NAMES = {"x": torch.arange(6.0).reshape(2, 3), "torch": torch}


@pytest.mark.parametrize(
    ("known", "guess"),
    [
        (CHOICE, "the largest"),
        (CHOICE, "  The  Largest "),
        (CHOICE, "'the largest'"),
        (NUMBER, 0.5),
        (NUMBER, 0.505),
        (NUMBER, "0.5"),
        (NUMBER, "1/2"),
        (NUMBER, torch.tensor(0.5)),
        (NUMBER, torch.tensor([0.5]).numpy()),
        (SHAPE, (4, 6)),
        (SHAPE, [4, 6]),
        (SHAPE, torch.zeros(4, 6).shape),
        (SHAPE, torch.tensor([4, 6])),
        (SHAPE, "(4, 6)"),
        (SHAPE, "4, 6"),
        (SHAPE, "4 x 6"),
        (SHAPE, "torch.Size([4, 6])"),
        (TENSOR, [[0.5, 1], [2, 0.25]]),
        (TENSOR, torch.tensor([[0.5, 1.0], [2.0, 0.25]])),
        (TENSOR, "tensor([[0.5, 1.], [2., 0.25]])"),
        ({"kind": "list", "answer": [3]}, 3),
        ({"kind": "list", "answer": [[True, False]]}, torch.tensor([[True, False]])),
        ({"kind": "number", "answer": float("nan")}, "nan"),
        ({"kind": "number", "answer": float("inf")}, torch.inf),
        ({"kind": "number", "answer": -2}, "−2"),
        (CODE, "x.sum(-1)"),
        (CODE, " x . sum(dim=1)"),
        (CODE, "torch.einsum('ij->i', x)"),
        (CODE, NAMES["x"].sum(-1)),
    ],
)
def test_a_right_guess_is_right_however_it_is_written(known: dict[str, Any], guess: Any) -> None:
    assert judge(known, guess, NAMES).right


@pytest.mark.parametrize(
    ("known", "guess", "said"),
    [
        (CHOICE, "all", ""),
        (NUMBER, 2, "Twice."),
        (NUMBER, 0.52, "Halve it."),
        (SHAPE, (6, 4), "The other way round."),
        (SHAPE, (4, 6, 1), ""),
        (SHAPE, 24, ""),
        (CODE, "x.sum(dim=0)", "That sums over the rows."),
        (CODE, "x.mean(-1)", ""),
        (CODE, 3, ""),
    ],
)
def test_a_wrong_guess_gets_its_sentence(known: dict[str, Any], guess: Any, said: str) -> None:
    judged = judge(known, guess, NAMES)
    assert not judged.right
    assert judged.why_wrong == said


@pytest.mark.parametrize(
    ("known", "guess", "why"),
    [
        (CHOICE, "some", "`some` is not one of the answers."),
        (CHOICE, 3, "`3` is not one of the answers."),
        (NUMBER, "many", "Expected a number, got `many`."),
        (NUMBER, [1, 2], "Expected a number, got `[1, 2]`."),
        (NUMBER, torch.zeros(3), "Expected a number, got `tensor([0., 0., 0.])`."),
        (NUMBER, "1/0", "Expected a number, got `1/0`."),
        (SHAPE, "four", "Expected whole numbers, such as (2, 3), got `four`."),
        (SHAPE, {"a": 1}, "Expected whole numbers, such as (2, 3), got `{'a': 1}`."),
        (SHAPE, "__import__('os')", "Expected whole numbers, such as (2, 3), got `__import__('os')`."),
        (CODE, "y + 1", "`y + 1` raises NameError: name 'y' is not defined"),
        (CODE, "x =", "`x =` raises SyntaxError"),
    ],
)
def test_what_cannot_be_a_guess_is_refused_with_a_reason(known: dict[str, Any], guess: Any, why: str) -> None:
    with pytest.raises(Unreadable) as refused:
        judge(known, guess, NAMES)
    assert str(refused.value).startswith(why)


def test_a_line_of_code_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.harness.time_limits.CALL", 0.2)
    with pytest.raises(Unreadable, match="CallTimeout"):
        judge(CODE, "[0 for i in iter(int, 1)]", NAMES)


def test_what_can_be_answered_and_the_answer_are_in_words() -> None:
    assert [describe_guess(known) for known in (CHOICE, NUMBER, SHAPE, TENSOR, CODE)] == [
        '"all", "none" or "the largest"',
        "a number",
        "whole numbers, such as (2, 3)",
        "a list of numbers, such as [0.5, 1]",
        "one line of code, between quotation marks",
    ]
    assert [answer_in_words(known) for known in (CHOICE, NUMBER, SHAPE, TENSOR, CODE)] == [
        "the largest",
        "0.5",
        "(4, 6)",
        "[[0.5, 1.0], [2.0, 0.25]]",
        "x.sum(-1)",
    ]
