"""Control groups (version 2), which count what all processes of a kernel use.

Covers: where in the system's tree this process may make groups, a group per kernel, its limits, usage and end; also
what a crashed grader has left. Does not cover: machines without groups (`seccomp_landlock` refuses what could not be
counted, and `forkserver` counts the rest).

A fork server has one group, `attention-…`, with a group in it for each of its kernels. It locks that as long as it
lives, so that later servers recognize abandoned groups. CPU time is counted wherever groups can be made; memory and the
number of processes only where their controllers are available.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CONTROLLERS = frozenset({"memory", "pids"})
_PREFIX, _KERNEL, _OTHERS = "attention-", "kernel-", "processes"
_PATIENCE = 1.0  # seconds for the last process of a group to be gone


class Group:
    """The control group of one kernel, in the directory that is open as `parent`.

    `counted` says which of "time", "memory" and "processes" it counts. Raises OSError if it cannot be made.
    """

    def __init__(self, parent: int, name: str, counted: frozenset[str]) -> None:
        self.parent, self.name, self.counted = parent, name, counted
        os.mkdir(name, 0o755, dir_fd=parent)

    def limit(self, memory: int, processes: int) -> None:
        """Limit the number of processes and their total `memory`, without swap."""
        if "memory" in self.counted:
            self._write("memory.max", str(memory))
            self._write("memory.oom.group", "1")  # a kernel that lacks one of its processes is useless
            with suppress(FileNotFoundError):  # a system without swap, or one that does not count it
                self._write("memory.swap.max", "0")
        if "processes" in self.counted:
            self._write("pids.max", str(processes))

    def enter(self) -> None:
        """Move this process into the group, with all that it will start."""
        self._write("cgroup.procs", "0")

    def processor_seconds(self) -> float:
        """CPU time of all processes that were ever in the group."""
        return self._numbers("cpu.stat")["usage_usec"] / 1e6

    def ran_out_of_memory(self) -> bool:
        """Whether the system has killed processes here for lack of memory."""
        return "memory" in self.counted and self._numbers("memory.events")["oom_kill"] > 0

    def remove(self) -> None:
        """Remove the group; if it is still busy, the end of the server removes it."""
        _remove(self.name, self.parent)

    def _write(self, name: str, value: str) -> None:
        descriptor = os.open(f"{self.name}/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.parent)
        with open(descriptor, "w") as stream:
            stream.write(value)

    def _numbers(self, name: str) -> dict[str, int]:
        descriptor = os.open(f"{self.name}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.parent)
        with open(descriptor) as stream:
            return {key: int(number) for key, number in map(str.split, stream)}


class Groups:
    """One fork server's group in the directory `place`, locked while in use.

    The lock ends with the last process that holds `directory`. Raises OSError if no group can be made there, or no
    process can be moved into it.
    """

    def __init__(self, place: Path) -> None:
        self.path = place / f"{_PREFIX}{secrets.token_hex(8)}"
        self.path.mkdir()
        self.directory = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.made = 0
        try:
            fcntl.flock(self.directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            there = frozenset((self.path / "cgroup.controllers").read_text().split()) & CONTROLLERS
            if there:
                (self.path / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(there)))
            names = {"memory": "memory", "pids": "processes"}
            self.counted = frozenset({"time"}) | {names[controller] for controller in there}
            self._check_entry()
        except OSError:
            self.remove()
            raise

    def kernel(self, memory: int, processes: int) -> Group:
        """A new group with these limits."""
        self.made += 1
        group = Group(self.directory, f"{_KERNEL}{self.made}", self.counted)
        try:
            group.limit(memory, processes)
        except OSError:
            group.remove()
            raise
        return group

    def remove(self) -> None:
        """Remove the group and what is left in it."""
        for name in os.listdir(self.directory):
            if name.startswith(_KERNEL):
                _remove(name, self.directory)
        os.close(self.directory)
        _remove(str(self.path))

    def _check_entry(self) -> None:
        trial = self.kernel(2**30, 100)
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                trial.enter()
                os._exit(0)
            os._exit(1)
        entered = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and trial.processor_seconds() >= 0
        trial.remove()
        if not entered:
            raise PermissionError(errno.EPERM, "no process may be moved into it", str(self.path))


def make() -> Groups | None:
    """A group for this process's kernels, where most is counted; None if impossible.

    Tries the groups from this process's own upwards, because an ordinary user owns only some, and takes the first that
    hands its controllers down. If none does, and the own group was delegated to us (a container's, or one with
    systemd's `Delegate=`), that one is changed: its processes move to a group below, because a group with processes of
    its own may not hand down.
    """
    places = list(_places())
    for place in places:
        sweep(place)
    for place in places:
        if _read_names(place / "cgroup.subtree_control") >= CONTROLLERS and (groups := _try_groups(place)):
            return groups
    if (
        places
        and _is_ours(places[0], top=len(places) == 1)
        and hand_down(places[0])
        and (groups := _try_groups(places[0]))
    ):
        return groups
    return next((groups for place in places if (groups := _try_groups(place))), None)


def sweep(place: Path) -> None:
    """Remove the groups in `place` whose fork server has ended without doing so."""
    for left in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is in use, or not ours
            directory = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for below in left.glob(f"{_KERNEL}*"):
                    below.rmdir()
                left.rmdir()
            finally:
                os.close(directory)


def _remove(path: str, parent: int | None = None) -> None:
    """Remove an empty group, once the system has released its last processes."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            os.rmdir(path, dir_fd=parent)
        except OSError as error:
            if error.errno == errno.EBUSY and time.monotonic() < deadline:
                time.sleep(0.002)
                continue
        return


def _try_groups(place: Path) -> Groups | None:
    for _ in range(2):  # another server may have removed the first as a leftover, before it was locked
        with suppress(OSError):
            return Groups(place)
    return None


def _places() -> Iterator[Path]:
    """The directories of this process's group and of those above it, if visible."""
    with suppress(OSError):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), None)
        for line in Path("/proc/self/mountinfo").read_text().splitlines() if own else ():
            left, _, right = line.partition(" - ")
            root, top = left.split()[3:5]
            if right.split()[0] == "cgroup2" and own and Path(own).is_relative_to(root):
                path = Path(top, Path(own).relative_to(root))
                while path.is_relative_to(top):
                    yield path
                    path = path.parent
                return


def _read_names(path: Path) -> frozenset[str]:
    with suppress(OSError):
        return frozenset(path.read_text().split())
    return frozenset()


def _is_ours(place: Path, top: bool) -> bool:
    """Whether `place` is ours to arrange: a container's `top` group, or delegated."""
    if top and (place / "cgroup.type").exists():
        return True
    with suppress(OSError):
        if os.stat(place).st_uid == os.geteuid() != 0:
            return True
    for mark in ("user.delegate", "trusted.delegate"):  # systemd's
        with suppress(OSError):
            if os.getxattr(place, mark) == b"1":
                return True
    return not (place / "cgroup.type").exists()  # the machine's own root, which needs no arranging


def hand_down(place: Path) -> bool:
    """Let groups below `place` use its controllers, moving its processes if needed."""
    wanted = " ".join(f"+{name}" for name in sorted(_read_names(place / "cgroup.controllers") & CONTROLLERS))
    if not wanted:
        return False
    with suppress(OSError):
        for _ in range(3):  # processes started in the meantime are moved too
            try:
                (place / "cgroup.subtree_control").write_text(wanted)
                return True
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
            (place / _OTHERS).mkdir(exist_ok=True)
            for process in (place / "cgroup.procs").read_text().split():
                with suppress(OSError):  # it has ended, or belongs to the system
                    (place / _OTHERS / "cgroup.procs").write_text(process)
    return False
