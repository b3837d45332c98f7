"""The judge's side of the wire takes observations, and nothing else, from a kernel."""

from __future__ import annotations

import base64
import tracemalloc

import pytest
import torch

from course.harness.program import Observation
from course.harness.serialization import MAX_BYTES, Node, pack, unpack
from grading.errors import MalformedReply
from grading.exercises.lesson import load_lesson
from grading.grader.codec import decode_reply, expression, request
from grading.grader.references import programs

from ..support.repository import ROOT


def sent(**fields):
    return repr(base64.b64encode(pack([{**Observation().to_plain(), **fields}])).decode())


def test_an_observation_arrives():
    error = {"type": "ValueError", "bases": ["ValueError", "Exception"], "message": "no", "line": ""}
    error |= {"operation": "mul", "shapes": [[2, 3], []]}
    (seen,) = decode_reply(sent(values={"out": torch.ones(2)}, devices=["cpu"], gradients={"x": None}, raised=error), 1)
    assert torch.equal(seen.values["out"], torch.ones(2))
    assert seen.raised == error


def test_what_every_answer_is_asked_is_packed_once():
    exercise = load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]
    first, second = (request(list(programs(exercise, 3))) for _ in range(2))
    assert first is second
    assert request(list(programs(exercise, 4))) != first
    unwatched = unpack(base64.b64decode(request(programs(exercise, 3, watched=False))))
    assert all(one["forbidden"] == [] for one in unwatched)
    assert all(one["forbidden"] for one in unpack(base64.b64decode(first)))


@pytest.mark.parametrize(
    "text",
    [
        None,
        3,
        "",
        "5.0",
        "'not base64!'",
        "__import__('os').system('true')",
        "b'bytes'",
        "'" + "A" * 40 + "'",
        repr(base64.b64encode(b"\xff" * 64).decode()),
        "(" * 10_000,
        "'" + "A" * (2 * MAX_BYTES) + "'",
        repr(base64.b64encode(pack([1, 2])).decode()),
        repr(base64.b64encode(pack({"points": 5.0})).decode()),
    ],
)
def test_a_reply_that_is_not_an_observation_is_malformed(text):
    with pytest.raises(MalformedReply):
        decode_reply(text, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"values": [1]},
        {"values": {"x" * 200: 1}},
        {"devices": "cpu"},
        {"devices": [1]},
        {"gradients": {"x": 3}},
        {"gradients": {"x": torch.ones(2, dtype=torch.int64)}},
        {"detached": ["a"]},
        {"detached": [True]},
        {"used": [3]},
        {"used": ["x"] * 2000},
        {"raised": {"type": "E", "bases": ["E"], "message": "", "line": "", "more": ""}},
        {"raised": "ValueError"},
        {"raised": {"type": "E"}},
        {"raised": {"type": "E", "bases": "E", "message": "", "line": ""}},
        {"raised": {"type": "E", "bases": [], "message": "m" * 5000, "line": ""}},
        {"raised": {"type": "E", "bases": [], "message": "", "line": "", "operation": 3}},
        {"raised": {"type": "E", "bases": [], "message": "", "line": "", "operation": "\x1b[2J"}},
        {"raised": {"type": "E", "bases": [], "message": "", "line": "", "operation": "m" * 500}},
        {"raised": {"type": "E", "bases": [], "message": "", "line": "", "shapes": [[2], ["3"]]}},
        {"raised": {"type": "E", "bases": [], "message": "", "line": "", "shapes": [[1]] * 9}},
        {"raised": {"type": "E", "bases": [], "message": "", "line": "", "shapes": [[1] * 900]}},
        {"verdict": 5.0},
        {"raised": Node("ref", {"name": "x"})},
    ],
)
def test_a_field_of_another_form_is_malformed(fields):
    with pytest.raises(MalformedReply):
        decode_reply(sent(**fields), 1)


def test_fewer_or_more_observations_than_questions_are_malformed():
    for count in (0, 2):
        with pytest.raises(MalformedReply):
            decode_reply(sent(), count)


def test_a_reply_is_matched_before_it_is_read():
    """A megabyte of nested lists took `literal_eval` six seconds and half a gigabyte."""
    tracemalloc.start()
    try:
        for text in ("[" * 2**20, "0," * 2**20, "'" + "\\x41" * 2**18 + "'", "'" + "=" * 2**20 + "'"):
            with pytest.raises(MalformedReply):
                decode_reply(text, 1)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_the_question_holds_no_name_that_a_learner_could_have_bound():
    from course.harness.program import Program

    names = compile(expression([Program({}, [], [])]), "", "eval").co_names
    assert set(names) <= {"__import__", "handle_request"}
