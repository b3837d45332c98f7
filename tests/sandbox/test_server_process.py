"""Servers that start on a busy machine, or not at all."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from grading.sandbox import SandboxUnavailable, launch, processes, server_process

ANSWER = """
import socket
control = socket.socket(fileno={descriptor})
control.recv(65536)
control.send(b'{{"ready": true, "counted": []}}')
control.recv(65536)
"""


@contextmanager
def running(code: str) -> Iterator[tuple[socket.socket, int]]:
    """A process with a socket to it, and its id."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-I", "-S", "-c", code.format(descriptor=theirs.fileno())]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        try:
            yield ours, process.pid
        finally:
            process.kill()


def test_a_process_that_waits_for_a_processor_is_waited_for_and_one_that_sleeps_is_not(monkeypatch):
    monkeypatch.setattr(server_process, "PATIENCE", 0.6)
    with running("import time; time.sleep(999)") as (control, pid):
        assert not server_process.wait_for_answer(control, pid)
    monkeypatch.setattr(processes, "want_to_run", lambda family: True)
    monkeypatch.setattr(processes, "processor_seconds", lambda pid: 0.0)
    with running(f"import time; time.sleep(1.5)\n{ANSWER}") as (control, pid):
        control.send(b"{}")
        assert server_process.wait_for_answer(control, pid)


def test_a_fork_server_that_did_not_start_again_is_started_at_the_next_request(monkeypatch):
    asked = {"tree": "of this test alone"}
    monkeypatch.setattr(launch, "START", ANSWER)
    process = launch.server_of(asked).process
    process.kill()
    process.wait()
    monkeypatch.setattr(launch, "START", "")
    with pytest.raises(SandboxUnavailable, match="it gave no answer"):
        launch.server_of(asked)
    monkeypatch.setattr(launch, "START", ANSWER)
    started = launch.server_of(asked)
    assert started.alive
    started.process.kill()
    started.process.wait()
