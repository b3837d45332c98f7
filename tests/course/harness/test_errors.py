"""Which messages name an argument and tell its value or shape."""

from __future__ import annotations

import pytest
import torch

from course.harness.errors import exception_to_record, in_words, names_argument, not_written

MATRIX = torch.zeros(2, 3)


@pytest.mark.parametrize("shape", ["(2, 3)", "[2, 3]", "2x3", "2 × 3", "2×3", "2 by 3"])
def test_a_shape_counts_in_any_notation(shape):
    assert names_argument(f"b is {shape}, and no vector", "b", MATRIX)


@pytest.mark.parametrize("message", ["b is 3x2", "b is 4x2 or 23", "b is 2 or 5", "a is 2x3", "no vector"])
def test_another_shape_or_argument_does_not(message):
    assert not names_argument(message, "b", MATRIX)


@pytest.mark.parametrize(
    "message", ["ids is [97, -1]", "ids has -1, which does not exist", "-1 is not in 0..255 (ids)"]
)
def test_of_a_list_the_wrong_item_is_enough(message):
    assert names_argument(message, "ids", [97, -1])


@pytest.mark.parametrize("message", ["ids has 98, which does not exist", "no id -1", "ids is too long"])
def test_a_list_is_not_named_by_other_numbers_or_none(message):
    assert not names_argument(message, "ids", [97, -1])


def test_a_message_ends_where_torch_lists_frames_of_the_process():
    with pytest.raises(RuntimeError, match="frame #0") as raised:
        torch.zeros(1, 3).unflatten(1, (-3, -1))
    assert exception_to_record(raised.value)["message"].endswith("of shape [-3, -1]")


def record(kind: str, message: str, line: str = "") -> dict[str, object]:
    return {"type": kind, "bases": [kind], "message": message, "line": line}


def test_weights_that_do_not_fit_a_module_are_no_exception_of_the_learners():
    message = "the module has a parameter W_q.bias that is not asked for; the exercise has W_q.weight"
    assert in_words(record("ValueError", message)) == message
    assert (
        in_words(record("ValueError", "parameter W_q has shape (1,), not ()")) == "parameter W_q has shape (1,), not ()"
    )
    assert in_words(record("ValueError", message, "f(x)")).startswith("your code raised ValueError: the module has")
    assert in_words(record("ValueError", "no")) == "calling it or using its result raised ValueError: no"


def test_a_module_without_a_forward_is_an_answer():
    with pytest.raises(NotImplementedError) as raised:
        torch.nn.Module()(1)
    assert not not_written(exception_to_record(raised.value) | {"line": ""})
    assert not_written(record("NotImplementedError", "softmax is not written yet"))
