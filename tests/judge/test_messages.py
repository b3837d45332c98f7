"""Messages between processes: whatever is sent arrives, and whatever else arrives fails the judge that sent it."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grading.course_dir.lesson_change import LessonChange
from grading.errors import JudgeFailed, MalformedMessage
from grading.judge import start_judge
from grading.judge.job import (
    REQUESTS,
    AnswerRequest,
    CellGrade,
    GradebookView,
    GradedLesson,
    GradeRequest,
    Job,
    PageRequest,
    StartJudge,
)
from grading.judge.messages import FROM_JUDGE, MAX_BYTES, CellOutputs, Reader, decode, encode
from grading.judge.start_judge import JudgeProcess
from grading.notebooks.released import MarkedCell, PlainCell, ReleasedNotebook

LESSON = GradedLesson(Path("/course"), "02_softmax", LessonChange({"a": 1.5}, frozenset({"b"})), "7", "cpu", ("c",))
RELEASED = ReleasedNotebook(
    [MarkedCell("a", "code", "a = 1", True, True, False, False, 2.0, "0"), PlainCell("p", "markdown", "# A", ("t",))]
)
GRADE = GradeRequest(LESSON, RELEASED, [{"a": "0"}], "full", {"memory": 2**30}, 30.0, 300.0)
VIEW = GradebookView("ada", {"a": CellGrade(1.0, 2.0, manual=True)}, {"a": "Good."}, left_out=("# A",))


@pytest.mark.parametrize("request_", [GRADE, PageRequest("02_softmax", VIEW), AnswerRequest("π")])
def test_a_request_arrives_as_it_was_made(request_: Any) -> None:
    assert decode(encode(request_), REQUESTS) == request_
    start = Job(request_, Path("/course")).start()
    assert decode(encode(start), (StartJudge,)) == start


MALFORMED = [
    b"",
    b"\xff",
    b"[]",
    b"{}",
    b"[" * 50_000,
    b'{"kind": ["Done"]}',
    b'{"kind": "JudgeEnded", "code": 0, "decided": ""}',
    b'{"kind": "Done", "more": 1}',
    b'{"kind": "LogRecord", "level": 30}',
    b'{"kind": "LogRecord", "level": true, "text": ""}',
    b'{"kind": "CannotRead", "why": {}}',
    b'{"kind": "NoSandbox", "missing": "a", "remedy": null}',
    b'{"kind": "SanitizedNotebook", "notebook": []}',
    b'{"kind": "CellOutputs", "cell": "a", "outputs": {}, "count": 1}',
    b'{"kind": "CellVerdict", "cell": 1, "verdict": {}}',
]


@pytest.mark.parametrize("data", MALFORMED, ids=range(len(MALFORMED)))
def test_a_message_of_another_form_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedMessage, match=r"^it sent"):
        decode(data, FROM_JUDGE)


def framed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


SENT = [*map(framed, MALFORMED), struct.pack(">I", MAX_BYTES + 1)]


@pytest.mark.parametrize("sent", SENT, ids=range(len(SENT)))
def test_a_judge_that_sends_another_message_has_failed(
    sent: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:

        def start(job: Job[Any], descriptors: list[int]) -> None:
            """In place of a server's: its judge sends this."""
            _, answers = (stack.enter_context(socket.socket(fileno=os.dup(number))) for number in descriptors[:2])
            answers.sendall(sent)

        monkeypatch.setattr(start_judge, "server_for", lambda _: SimpleNamespace(start=start))
        judge = JudgeProcess(Job(AnswerRequest(""), tmp_path), tmp_path / "a.ipynb", 1000)
        with pytest.raises(JudgeFailed, match=r"^was not understood: it sent"):
            list(judge.messages())
        judge.close()


def test_all_messages_of_a_judge_together_are_bounded() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        data = encode(CellOutputs("a", ["x" * 1000], None))
        theirs.sendall(framed(data) * 3)
        reader = Reader(ours, FROM_JUDGE, most=2 * len(data))
        assert reader.next() == reader.next() == CellOutputs("a", ["x" * 1000], None)
        with pytest.raises(MalformedMessage, match="more than is allowed"):
            reader.next()
