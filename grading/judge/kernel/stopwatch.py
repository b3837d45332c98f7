"""How long a kernel has had for what it was asked: a busy machine's delays are not the student's.

While some process of a kernel wants to run, its time is the processor time that the kernel and all that it started
get; while they all sleep, it is what passes. So a call without end and one that sleeps come to their limit alike, and a
right answer on a machine that is busy with something else does not. Both are read from outside the kernel: nothing
that student code says counts. Where the system does not tell them (it is not Linux), time is what passes.
"""

from __future__ import annotations

import sys
import time

from grading.sandbox import processes

LATE = 0.5  # seconds that count at most between two looks: whoever looks later than that was kept waiting too


class Stopwatch:
    """Runs from when it is made. `pid`: the kernel's process as this process sees it, None where that is not known."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid
        self._begun = self._looked = time.monotonic()
        self._counted = 0.0
        self._used: float | None = None  # seconds of processor time at the last look

    def look(self) -> float:
        """Seconds that count so far. To be asked often: what a process does is known for the moment of a look only."""
        used, wanting = self._activity()
        passed = self._since()
        if wanting and used is not None and self._used is not None:
            passed = min(passed, max(0.0, used - self._used))
        self._counted += passed
        self._looked, self._used = time.monotonic(), used
        return self._counted

    @property
    def seconds(self) -> float:
        """What counts, without a new look."""
        return self._counted + self._since()

    @property
    def wall(self) -> float:
        """Seconds that have passed."""
        return time.monotonic() - self._begun

    def _since(self) -> float:
        return min(time.monotonic() - self._looked, LATE)

    def _activity(self) -> tuple[float | None, bool]:
        """Processor time of the kernel and all that it started, and whether any of them wants to run."""
        if self.pid is None or sys.platform != "linux":
            return None, False
        family = processes.families({self.pid})[self.pid]
        return sum(map(processes.processor_seconds, family)), any(map(processes.wants_to_run, family))
