"""Whatever a kernel sends: an observation or MalformedReply, a message or the connection's end, an output or none."""

from __future__ import annotations

import base64
import contextlib

import nbformat
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook
from safetensors.torch import save

from course.harness.program import Observation
from course.harness.serialization import Node, PackingError, pack, unpack
from grading.errors import ConnectionBroken, MalformedReply, NoAnswer
from grading.exercises.lesson import load_lesson
from grading.grader.codec import decode_reply
from grading.grader.grade_exercise import grade_exercise
from grading.judge.kernel.outputs import CellRun, Collector, parse_content
from grading.judge.kernel.zmtp import GREETING, NULL, Incoming

from ..support.corpus import ROOT
from ..support.fuzz_bounds import TIMES, bounded, fuzz_settings
from ..support.fuzz_strategies import as_json, damaged, plain, records, texts

HELLO = (b"\xff" + bytes(8) + b"\x7f\x03\x01" + NULL).ljust(GREETING, b"\0") + b"\x04\x06\x05READY"
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.float8_e5m2, torch.bfloat16)
SEEN = Observation(
    values={"result": torch.ones(2, 3), "other": (1, 2.0, "x", Node("module", {"type": "M", "training": True}))},
    gradients={"x": torch.zeros(3), "y": None},
    raised={"type": "E", "bases": ["E"], "message": "m", "line": ""},
)
ERROR = records(plain, type=st.text(), bases=st.lists(st.text()), message=st.text(), line=st.text())
tensors = st.builds(
    lambda shape, dtype: torch.zeros(shape).to(dtype), st.lists(st.integers(0, 3), max_size=5), st.sampled_from(DTYPES)
)
values = st.recursive(
    st.one_of(
        plain, tensors, st.builds(Node, st.sampled_from(["module", "other", "ref"]), st.dictionaries(st.text(), plain))
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(st.text(), inner)),
    max_leaves=6,
)
observations = records(
    values,
    values=st.dictionaries(st.sampled_from(["result", "x", "module"]), values, max_size=3),
    devices=st.lists(st.sampled_from(["cpu", "cuda", ""])),
    gradients=st.dictionaries(st.sampled_from(["x", "query"]), tensors, max_size=2),
    detached=st.lists(st.integers()),
    changed=st.dictionaries(st.text(), values, max_size=2),
    raised=ERROR,
    used=st.lists(st.text()),
)
packed = st.recursive(
    st.one_of(
        plain, records(plain, **{"$": st.just("tensor"), "key": st.just("0"), "order": st.lists(st.integers(0, 3))})
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        records(
            plain, **{"$": st.sampled_from(["tuple", "dict", "node", "big"]), "items": st.lists(inner, max_size=4)}
        ),
        records(plain, **{"$": st.just("node"), "kind": st.text(), "fields": inner}),
        records(plain, **{"$": st.just("dict"), "items": st.lists(st.tuples(st.text(), inner), max_size=4)}),
    ),
    max_leaves=12,
)


@fuzz_settings(50)
@given(st.one_of(st.binary(max_size=300), damaged(pack([SEEN.to_plain()])), packed.map(as_json)))
def test_any_bytes_are_a_packed_value_or_none(blob):
    with bounded(len(blob)), contextlib.suppress(PackingError):
        unpack(blob)
    with bounded(len(blob)), contextlib.suppress(PackingError):
        unpack(len(blob).to_bytes(8, "little") + blob + save({"0": torch.ones(2, 3)}))


@fuzz_settings(50)
@given(texts("'", '"', "A", "=", "(", "[", "{", "\\x41", base64.b64encode(pack([SEEN.to_plain()])).decode()))
def test_any_text_is_a_reply_or_malformed(text):
    with bounded(len(text)), contextlib.suppress(MalformedReply):
        decode_reply(text, 1)


def _packs(value):
    try:
        return base64.b64encode(pack([value])).decode()
    except PackingError:
        return ""


LESSONS = [load_lesson(path) for path in sorted((ROOT / "grader_tests").glob("[0-9]*/"))]
EXERCISES = [exercise for lesson in LESSONS for exercise in lesson.exercises.values()]
SOME = [exercise for exercise in EXERCISES if exercise.name in ("softmax", "causal_mask")]


@pytest.mark.full
@fuzz_settings(20)
@given(st.sampled_from(EXERCISES if TIMES > 1 else SOME), observations)
def test_any_observation_gets_a_verdict(exercise, observation):
    """Also of the form that a judge expects, and of values that it does not."""
    text = repr(_packs(observation))

    def ask(programs):
        for _ in programs:
            try:
                yield from decode_reply(text, 1)
            except MalformedReply:
                yield NoAnswer("the kernel gave no readable answer")

    verdict = grade_exercise(exercise, ask)
    assert verdict.earned < exercise.points
    assert len(str(verdict.to_json())) < 100_000


@fuzz_settings(50)
@given(
    st.lists(st.binary(max_size=40) | st.tuples(st.sampled_from([0, 1, 2, 3, 4, 7]), st.binary(max_size=9))),
    st.integers(1, 2000),
    st.booleans(),
)
def test_any_bytes_are_messages_or_the_end_of_the_connection(parts, times, greeted):
    framed = b"".join(p if isinstance(p, bytes) else bytes([p[0], len(p[1])]) + p[1] for p in parts) * times
    incoming, most = Incoming(1000), 0
    with bounded(len(framed)), contextlib.suppress(ConnectionBroken):
        for piece in (HELLO if greeted else b"", framed):
            incoming.feed(piece)
            for message in incoming.messages():
                most = max(most, sum(map(len, message)))
    assert most <= 1000


contents = records(
    plain,
    name=st.sampled_from(["stdout", "stderr"]),
    text=st.text(),
    data=st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/png", "a/b"]), plain | st.text()),
    metadata=plain,
    ename=plain,
    evalue=plain,
    traceback=st.lists(st.text() | plain),
    execution_count=plain,
    wait=plain,
)
kinds = st.sampled_from(
    ["stream", "display_data", "execute_result", "error", "clear_output", "execute_input", "status"]
)


@fuzz_settings(50)
@given(st.lists(st.tuples(kinds, st.one_of(contents.map(as_json), plain.map(as_json), st.binary(max_size=50)))))
def test_any_messages_make_outputs_that_a_notebook_holds(messages):
    ran = CellRun()
    collector = Collector(ran, 10_000, 5_000)
    with bounded(sum(len(content) for _, content in messages)):
        for kind, content in messages:
            assert isinstance(parse_content(content), dict)
            if not collector.add(kind, content, len(content)):
                break
    cell = new_code_cell("", outputs=ran.outputs, execution_count=ran.count)
    nbformat.writes(new_notebook(cells=[cell]))
