"""Time that a kernel or a server has had, without the delays of a busy machine.

While one of its processes wants to run, the CPU time of it and its descendants counts; while all of them
sleep, wall-clock time counts. So an endless call and a sleeping call both reach their limit, but a right answer on a
busy machine does not. Both are read from outside the kernel, so student code cannot fake them. Off Linux, where the
system does not report them, wall-clock time counts.
"""

from __future__ import annotations

import sys
import time

from . import processes

LATE = 0.5  # most seconds that count between two looks: if a look is late, this process was delayed too


class Stopwatch:
    """Runs from creation. `pid`: the id here of the process that is watched, None if unknown."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid
        self._begun = self._looked = time.monotonic()
        self._counted = 0.0
        self._used: float | None = None  # CPU seconds at the last look

    def look(self) -> float:
        """Count up to now and return the seconds. Call it often to be exact."""
        used, wanting = self._activity()
        passed = self._since()
        if wanting and used is not None and self._used is not None:
            passed = min(passed, max(0.0, used - self._used))
        self._counted += passed
        self._looked, self._used = time.monotonic(), used
        return self._counted

    @property
    def seconds(self) -> float:
        """Seconds counted so far, without reading the processes again."""
        return self._counted + self._since()

    @property
    def wall(self) -> float:
        """Seconds of wall-clock time."""
        return time.monotonic() - self._begun

    def _since(self) -> float:
        return min(time.monotonic() - self._looked, LATE)

    def _activity(self) -> tuple[float | None, bool]:
        """CPU time of the process and its descendants, and whether one wants to run."""
        if self.pid is None or sys.platform != "linux":
            return None, False
        family = processes.families({self.pid})[self.pid]
        return sum(map(processes.processor_seconds, family)), processes.want_to_run(family)
