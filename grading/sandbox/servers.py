"""A process that serves this one over a socket and ends when that closes: the fork server, the judges' server."""

from __future__ import annotations

import select
import shutil
import socket
import subprocess

_PATIENCE = 10  # seconds to end by itself: it takes about 0.1


def is_there(control: socket.socket) -> bool:
    """Whether the process at the other end takes requests: its end of the socket closes before anything else of it."""
    hung_up = select.poll()
    hung_up.register(control, 0)
    return not hung_up.poll(0)


def end(control: socket.socket, process: subprocess.Popen[bytes], directory: str) -> None:
    """End a server with all that it started, and remove the directory that it used."""
    control.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(directory, ignore_errors=True)
