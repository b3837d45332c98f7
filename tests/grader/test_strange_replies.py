"""Replies of every strange form: they are the answer's own fault, and a fault of the judge's own is not."""

from __future__ import annotations

import base64
import math

import pytest
import torch

from course.harness.runner import observe
from course.harness.serialization import Node, pack
from grading.errors import MalformedReply, NoAnswer
from grading.exercises.lesson import load_lesson
from grading.grader.codec import decode_reply
from grading.grader.grade_exercise import grade_exercise
from grading.grader.local import grade_in_process

from ..support.course_builder import write_grader_tests

BY_ADDING = """
# %% by_adding
def length(x):
    return x + x
"""
LENGTH = """
from grading.exercises.exercise import call, exercise

length = exercise("length")

@length.oracle
def length_oracle(x):
    return float(x.norm())

@length.criterion("values", points=1)
def _(draw):
    yield call(draw.normal(3))

@length.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(4)).with_gradients()

def positive(seen, exact):
    return None if seen.values["result"] > 0 else "it is not positive"

@length.criterion("sign", points=1)
def _(draw):
    yield call(draw.normal(5)).check_with({judge})
"""


def of_length(tmp_path, judge="positive"):
    written = {"length": [LENGTH.replace("{judge}", judge), BY_ADDING, ""]}
    return load_lesson(write_grader_tests(tmp_path / "grader_tests" / "01_length", written)).exercises["length"]


STRANGE = [
    2**200,
    -(2**255),
    True,
    None,
    "inf",
    math.nan,
    Node("module", {}),
    Node("other", {"type": ["x" * 1000] * 1000}),
    {"result": 1.0},
    torch.tensor(1.0).to(torch.float8_e4m3fn),
    torch.tensor(1j),
    torch.zeros(0),
    [[[]]],
]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("field", ["values", "gradients"])
def test_whatever_a_reply_holds_is_the_answers_own_fault(tmp_path, value, field):
    """A large number where a float is expected left this exercise and all after it to a person."""
    length = of_length(tmp_path)

    def ask(programs):
        for program, _ in programs:
            seen = observe(program, {"length": length.answer})
            setattr(seen, field, {"result": value, "x": value})
            text = repr(base64.b64encode(pack([seen.to_plain()])).decode())
            try:
                yield from decode_reply(text, 1)
            except MalformedReply:
                yield NoAnswer("the kernel gave no readable answer")

    verdict = grade_exercise(length, ask)
    assert verdict.status in ("wrong", "partly right") or field == "gradients"
    assert len(str(verdict.to_json())) < 5000


def test_a_fault_of_the_judges_own_is_not_the_answers(tmp_path):
    length = of_length(tmp_path, judge="lambda seen, exact: seen.values['results']")
    with pytest.raises(KeyError):
        grade_in_process(length, {"length": lambda x: x.norm()})
