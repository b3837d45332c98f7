"""A lock that lets only one process at a time grade a course."""

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

FILE, OWNER = ".grading-lock", ".grading-owner"


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Keep other processes from grading the course in `root`. Reentrant.

    The operating system releases the lock when the process ends, even if it is killed. Raises CourseLocked with the
    name of the holder.
    """
    lock = FileLock(root / FILE, is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise CourseLocked(f"{root} is already being graded, {_lock_holder(root)}. Wait for it, or stop it.") from None
    try:
        about = {"user": _user_name(), "pid": os.getpid(), "host": socket.gethostname()}
        (root / OWNER).write_text(json.dumps({**about, "since": datetime.now().astimezone().isoformat(" ", "minutes")}))
        yield
    finally:
        if lock.lock_counter == 1:
            (root / OWNER).unlink(missing_ok=True)
        lock.release()


def _lock_holder(root: Path) -> str:
    with suppress(OSError, ValueError, KeyError):
        about = json.loads((root / OWNER).read_text())
        return f"by {about['user']} on {about['host']} (process {about['pid']}) since {about['since']}"
    return "by another process"


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the user has no name
        return str(os.getuid()) if hasattr(os, "getuid") else "somebody"
