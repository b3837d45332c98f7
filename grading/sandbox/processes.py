"""Other processes as /proc shows them: descendants, CPU time, whether they wait.

For watching kernels from outside. Processes that have ended have used nothing and want nothing.
"""

from __future__ import annotations

import os
from collections.abc import Set
from contextlib import suppress

_WANTING = (["R"], ["D"])  # running or waiting for a CPU; waiting for a disk
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def families(roots: Set[int]) -> dict[int, list[int]]:
    """Each of `roots` with its descendants."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _stat(name)):
            children.setdefault(int(fields[1]), []).append(int(name))
    found = {}
    for root in roots:
        family = [root]
        for member in family:
            family += children.get(member, [])
        found[root] = family
    return found


def processor_seconds(pid: int) -> float:
    """CPU time of a process and of its children that have ended."""
    return sum(map(int, _stat(str(pid))[11:15])) / _TICKS


def wants_to_run(pid: int) -> bool:
    """Whether a thread of a process is running or waits only for the machine."""
    with suppress(OSError):
        return any(_stat(f"{pid}/task/{thread}")[:1] in _WANTING for thread in os.listdir(f"/proc/{pid}/task"))
    return False


def _stat(place: str) -> list[str]:
    """The fields of a stat file from the third, the state, on; see proc(5)."""
    with suppress(OSError), open(f"/proc/{place}/stat") as stream:
        return stream.read().rpartition(")")[2].split()
    return []
