"""What `grading watch` last wrote about itself, and whether it runs."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from typing import Any

from filelock import FileLock, Timeout

from course.models.write_file import write_file
from grading.errors import CourseLocked

LOCK, FILE = ".grading-watch", ".grading-watch.json"


@dataclass
class WatchState:
    """The state of the service, without names. Times are in UTC; the page shows them in the course's time zone.

    doing           "waiting for submissions", "working", "waiting for another command" or "stopped"
    timezone        the course's
    waiting         number of submissions without feedback, failed and held-back ones included
    held_back       how many of these a limit of attempts holds back
    released        number of pages released since the start
    last_round      `at`, `lesson`, `submissions`, `released` and `seconds` of the last round
    waited_seconds  `median`, `p95` and `longest` from handing in to released feedback, of the last `submissions`
    errors          `what` failed, for how many `submissions`, and when the next try is, `again_at`
    """

    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)
    since: str = field(default_factory=lambda: now())
    at: str = ""
    doing: str = ""
    timezone: str = "UTC"
    waiting: int = 0
    held_back: int = 0
    released: int = 0
    last_round: dict[str, Any] = field(default_factory=dict)
    waited_seconds: dict[str, float] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)

    def write(self, root: Path) -> None:
        """Replace the file in the course directory."""
        self.at = now()
        write_file(root / FILE, json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")


def read_state(root: Path) -> dict[str, Any]:
    """The state as last written, with `running`; only that if the course was never watched."""
    try:
        with FileLock(root / LOCK, timeout=0):
            return {"running": False, **last_state(root)}
    except Timeout:
        return {"running": True, **last_state(root)}


def last_state(root: Path) -> dict[str, Any]:
    """The state as last written; empty if the course was never watched."""
    try:
        written: dict[str, Any] = json.loads((root / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        written = {}
    return written


@contextmanager
def only_watch(root: Path) -> Iterator[None]:
    """Keep other processes from watching the course. Raises CourseLocked."""
    try:
        with FileLock(root / LOCK, timeout=0):
            yield
    except Timeout:
        raise CourseLocked(
            f"{root} is already being watched. `grading watch --status` shows by which process"
        ) from None


def in_seconds(waited: Collection[float]) -> dict[str, float]:
    """The median, the 95th percentile and the longest of these waiting times."""
    if not waited:
        return {}
    cuts = quantiles(waited, n=20, method="inclusive") if len(waited) > 1 else [*waited] * 19
    values = {"median": cuts[9], "p95": cuts[18], "longest": max(waited)}
    return {"submissions": len(waited), **{name: round(value, 1) for name, value in values.items()}}


def now(later: float = 0.0) -> str:
    """The time in UTC, this many seconds later."""
    at = datetime.fromtimestamp(datetime.now(UTC).timestamp() + later, UTC)
    return at.isoformat(" ", "seconds")
