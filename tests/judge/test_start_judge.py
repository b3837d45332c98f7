"""The coordinator's side of a judge that ends before it reads its request, with a stand-in for the judges' server."""

from __future__ import annotations

import os
import select
import socket
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from grading.errors import SubmissionNotGraded
from grading.judge import start_judge
from grading.judge.job import AnswerRequest, Job
from grading.judge.messages import NoSandbox, NotStarted, encode
from grading.judge.start_judge import JudgeProcess
from grading.sandbox import SandboxUnavailable


class Refusing:
    """Closes the connection to the judge once the request is there, and reports why, as the server does."""

    def __init__(self, report: NoSandbox | NotStarted) -> None:
        self.report = report

    def start(self, job: Job[Any], descriptors: list[int]) -> None:
        line, answers = (socket.socket(fileno=os.dup(number)) for number in descriptors[:2])
        Thread(target=self.refuse, args=(line, answers)).start()

    def refuse(self, line: socket.socket, answers: socket.socket) -> None:
        select.select([answers], [], [])
        answers.close()
        line.send(encode(self.report))
        line.close()


@pytest.mark.parametrize(
    ("report", "expected", "why"),
    [
        (NoSandbox("No kernels.", ""), SandboxUnavailable, "No kernels."),
        (NotStarted("fork: out of memory"), SubmissionNotGraded, "its judge was lost: fork: out of memory"),
    ],
)
def test_a_judge_that_did_not_start_is_reported_with_the_servers_reason(report, expected, why, tmp_path, monkeypatch):
    monkeypatch.setattr(start_judge, "server_for", lambda _: Refusing(report))
    judge = JudgeProcess(Job(AnswerRequest(""), tmp_path), Path(tmp_path, "a.ipynb"), 1000)
    with pytest.raises(expected) as raised:
        list(judge.messages())
    judge.close()
    assert str(raised.value) == why
