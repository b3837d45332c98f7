"""A server process that ends when its socket closes: fork server, judges' server."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
from contextlib import suppress

from .stopwatch import Stopwatch

PATIENCE = 60.0  # seconds of a Stopwatch for a server or a kernel to get ready, which take 2 and 0.1
_TO_END = 10  # seconds to end by itself, which takes about 0.1
_LOOK_EVERY = 0.2  # seconds


class ForkedServer:
    """A server that was forked, with as much of Popen as it takes to end it.

    control: this process's end of its socket, on which nothing has been sent yet
    """

    def __init__(self, pid: int, control: socket.socket) -> None:
        self.pid, self.control, self._handle = pid, control, os.pidfd_open(pid)

    def wait(self, timeout: float | None = None) -> None:
        if self._handle < 0:
            return
        if not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(["forked"], timeout or 0)
        with suppress(ChildProcessError):  # the process that forked it waits for it
            os.waitpid(self.pid, 0)
        os.close(self._handle)
        self._handle = -1

    def kill(self) -> None:
        signal.pidfd_send_signal(self._handle, signal.SIGKILL)


def takes_requests(control: socket.socket) -> bool:
    """Whether the process takes requests: its end of the socket closes first."""
    hung_up = select.poll()
    hung_up.register(control, 0)
    return not hung_up.poll(0)


def wait_for_answer(control: socket.socket, pid: int) -> bool:
    """Wait until there is something to read at `control`, or its end; False if process `pid` does not come to it."""
    watch, arrived = Stopwatch(pid), select.poll()
    arrived.register(control, select.POLLIN)
    while not arrived.poll(1000 * _LOOK_EVERY):
        if watch.look() > PATIENCE:
            return False
    return True


def end(control: socket.socket, process: subprocess.Popen[bytes] | ForkedServer, directory: str) -> None:
    """End a server and everything it started, and remove its directory."""
    control.close()
    try:
        process.wait(_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(directory, ignore_errors=True)
