"""One grader at a time in a course: who comes second is told who is at work."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import CourseLocked

FILE, WHO = ".grading-lock", ".grading-at-work"


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Nobody else grades the course in `root` while this is entered, from any process. May be entered within itself.

    The lock ends with the process, however that ends. Raises CourseLocked.
    """
    lock = FileLock(root / FILE, is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise CourseLocked(f"{root} is being graded already, {_who(root)}. Wait for it, or stop it.") from None
    try:
        about = {"user": _user(), "pid": os.getpid(), "host": socket.gethostname()}
        (root / WHO).write_text(json.dumps({**about, "since": datetime.now().astimezone().isoformat(" ", "minutes")}))
        yield
    finally:
        if lock.lock_counter == 1:
            (root / WHO).unlink(missing_ok=True)
        lock.release()


def _who(root: Path) -> str:
    with suppress(OSError, ValueError, KeyError):
        about = json.loads((root / WHO).read_text())
        return f"by {about['user']} on {about['host']} (process {about['pid']}) since {about['since']}"
    return "by another process"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return str(os.getuid()) if hasattr(os, "getuid") else "somebody"
