"""Other processes as /proc shows them: descendants, CPU time, whether they wait.

For watching kernels from outside. Processes that have ended have used nothing and want nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Set
from contextlib import suppress

_RUNNING, _WAITING_FOR_DISK = ["R"], ["D"]  # running or waiting for a CPU; waiting for a disk, or in vfork
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def families(roots: Set[int]) -> dict[int, list[int]]:
    """Each of `roots` with its descendants."""
    if os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        return {root: _family(root) for root in roots}
    return _families_among_all(roots)


def _family(root: int) -> list[int]:
    """A process and its descendants, found without looking at other processes."""
    family = [root]
    for member in family:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{member}/task"):
                with suppress(OSError), open(f"/proc/{member}/task/{thread}/children") as stream:
                    family += map(int, stream.read().split())
    return family


def _families_among_all(roots: Set[int]) -> dict[int, list[int]]:
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


def owned_by(users: Set[int]) -> dict[int, list[int]]:
    """The processes of each of these users, whoever their parents are; also those that have ended unnoticed."""
    found: dict[int, list[int]] = {user: [] for user in users}
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and (user := _user(name)) in found:
                found[user].append(int(name))
    return found


def _user(pid: str) -> int:
    """The real user of a process; the owner of its directory in /proc is not always."""
    with open(f"/proc/{pid}/status") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith("Uid:"))


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    return _stat(str(pid))[:1] not in ([], ["Z"], ["X"])


def processor_seconds(pid: int) -> float:
    """CPU time of a process and of its children that have ended."""
    return sum(map(int, _stat(str(pid))[11:15])) / _TICKS


def want_to_run(family: Iterable[int]) -> bool:
    """Whether a thread of these processes is running or waits only for the machine.

    A process that waits in vfork for its child is shown as if it waited for a disk. The two have the same memory, and
    no kernel may make a child that its parent waits for with a memory of its own (`seccomp_landlock`).
    """
    on_disk = []
    for pid in family:
        states = _states(pid)
        if _RUNNING in states:
            return True
        on_disk += [pid] if _WAITING_FOR_DISK in states else []
    if not on_disk:
        return False
    memories = Counter(map(_memory, family))
    return any(memories[_memory(pid)] < 2 for pid in on_disk)


def _states(pid: int) -> list[list[str]]:
    """The state of each thread of a process."""
    with suppress(OSError):
        return [_stat(f"{pid}/task/{thread}")[:1] for thread in os.listdir(f"/proc/{pid}/task")]
    return []


def _memory(pid: int) -> str:
    """The sizes of a process's memory, which are equal for processes that share it."""
    with suppress(OSError), open(f"/proc/{pid}/statm") as stream:
        return stream.read()
    return ""


def _stat(place: str) -> list[str]:
    """The fields of a stat file from the third, the state, on; see proc(5)."""
    with suppress(OSError), open(f"/proc/{place}/stat") as stream:
        return stream.read().rpartition(")")[2].split()
    return []
