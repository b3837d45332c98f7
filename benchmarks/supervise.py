"""Run one command to its end, and report what it cost and left behind.

Benchmarks call `supervised`, which starts this file as a script, the parent of the command:

    python -I -S benchmarks/supervise.py SECONDS ADDRESS_SPACE LOOK COMMAND...

The command's output goes to stderr. Stdout gets a line of JSON: `code` (minus the signal's number if one ended it; null
after a timeout), `wall` and `cpu` in seconds, of the command and of all that it started, and `left`, the number of
processes still running when it had ended. Those get a few seconds to act, and are then killed, in whatever session they
are. ADDRESS_SPACE bounds each process, in bytes (0: no bound). CPU is what the system counts for processes that were
waited for: a server waits for what it forks, in any namespace, and is itself waited for.

`most` has the most memory in bytes and the longest time in seconds of one process, sampled ten times a second: for the
command itself (`grader`), for the processes that our course forks to read submissions (`judge`) and for kernels
(`kernel`). LOOK 1 adds memory that no other process shares (`private`), and that of all processes together, each page
once (role `all`); reading that takes time. `held` is the memory of the command itself, in bytes, about once a second.
Standard library only, so that the script costs next to nothing. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
ROLES = ("grader", "judge", "kernel")
NAMES = {"judges": "", "kernels": "", "judge": "judge", "kernel": "kernel"}  # of confined processes, with their roles
LINGER = 4.0  # seconds for processes left behind: longer than an attack waits before it strikes


@dataclass(frozen=True)
class CommandRun:
    """How a command ended and what it cost; see the module."""

    code: int | None
    wall: float
    cpu: float
    left: int
    most: dict[str, dict[str, float]]
    held: list[float]
    said: str


def supervised(
    command: list[str],
    cwd: Path,
    seconds: float,
    memory: int = 0,
    variables: dict[str, str] | None = None,
    *,
    look: bool = False,
) -> CommandRun:
    """Run a command of this environment, or one by its absolute path.

    variables  its environment variables beside a few common ones
    look       whether to measure private memory, too
    """
    programs = Path(sys.executable).parent
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        **(variables or {}),
    }
    script = [sys.executable, "-I", "-S", __file__, str(seconds), str(memory), str(int(look))]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        done = subprocess.run(
            [*script, str(programs / command[0]), *command[1:]],
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        said.seek(0)
        if done.returncode:
            raise RuntimeError(f"{__file__} itself ended with {done.returncode}:\n{said.read()[-3000:]}")
        return CommandRun(**json.loads(done.stdout), said=said.read())


def succeeded(ran: CommandRun) -> CommandRun:
    """Return `ran`; raise RuntimeError with the end of its output if it failed."""
    if ran.code != 0:
        raise RuntimeError(f"the command ended with {ran.code} after {ran.wall:.0f} s:\n{ran.said[-3000:]}")
    return ran


def _supervise(seconds: float, address_space: int, look: bool, command: list[str]) -> dict[str, object]:
    # What a child leaves running becomes a child of ours, so that it can be counted and ended
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun = time.monotonic()
    process = subprocess.Popen(
        command, stdout=sys.stderr, start_new_session=True, preexec_fn=lambda: _bound(address_space)
    )
    code: int | None = None
    seen = _Seen(process.pid, look)
    while code is None and time.monotonic() < begun + seconds:
        seen.look()
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(0.1)
    wall = time.monotonic() - begun
    left = 0
    if code is None:
        process.kill()
        process.wait()
    else:
        time.sleep(0.2)
        left = len(_left())
        while _left() and time.monotonic() < begun + wall + LINGER:
            time.sleep(0.1)
    while _left():
        for pid in _left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = {"code": code, "wall": wall, "cpu": used.ru_utime + used.ru_stime, "left": left}
    return {**told, "most": seen.most, "held": seen.held}


class _Seen:
    """Resources that the processes of a command used, by sampling."""

    def __init__(self, grader: int, private: bool) -> None:
        self.grader, self.private, self.begun = grader, private, dict[int, float]()
        self.most: dict[str, dict[str, float]] = {role: {"bytes": 0.0, "seconds": 0.0} for role in ROLES}
        self.held: list[float] = []
        self._noted = time.monotonic()

    def look(self) -> None:
        now, together = time.monotonic(), 0.0
        for pid, role in roles(self.grader):
            with contextlib.suppress(OSError):  # it has ended
                status = _kilobytes(f"/proc/{pid}/status")
                if role:
                    seconds = now - self.begun.setdefault(pid, now)
                    self._note(role, bytes=status.get("VmHWM", 0.0), seconds=seconds)
                if pid == self.grader and now - self._noted >= 1:
                    self._noted = now
                    self.held.append(status.get("VmRSS", 0.0))
                if self.private:
                    rolled = _kilobytes(f"/proc/{pid}/smaps_rollup")
                    together += rolled.get("Pss", 0.0)
                    if role:
                        self._note(role, private=rolled["Private_Clean"] + rolled["Private_Dirty"])
        if self.private:
            self._note("all", bytes=together)

    def _note(self, role: str, **used: float) -> None:
        most = self.most.setdefault(role, {})
        most.update({what: max(number, most.get(what, 0.0)) for what, number in used.items()})


def roles(grader: int) -> Iterator[tuple[int, str]]:
    """All processes of a command, each with its role, "" if it is none of ROLES."""
    waiting = [(grader, "")]
    while waiting:
        pid, above = waiting.pop()
        kind = _kind(pid)
        role = kind if kind in ROLES else "judge" if kind == above == "server" else ""
        yield pid, "grader" if pid == grader else role
        waiting += [(child, kind) for child in _children(pid)]


def _kind(pid: int) -> str:
    """What a process is, by its name, or by its command if it is not confined.

    A judge has the command of its server.
    """
    with contextlib.suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        if name in NAMES:
            return NAMES[name]
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        return "kernel" if b"ipykernel_launcher" in command else "server" if b"grading.judge" in command else ""
    return ""


def _kilobytes(file: str) -> dict[str, float]:
    """Bytes by name, from the lines of a /proc file that are in kB."""
    lines = (line.split() for line in Path(file).read_text().splitlines())
    return {words[0].rstrip(":"): 1024.0 * int(words[1]) for words in lines if words[-1:] == ["kB"]}


def _bound(address_space: int) -> None:
    if address_space:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def _left() -> list[int]:
    """Children that are alive; those that have ended are reaped."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return _children(os.getpid())


def _children(pid: int) -> list[int]:
    """The children of a process, which may end at any moment, as may its threads."""
    found: list[int] = []
    tasks = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):
        for thread in os.listdir(tasks):
            with contextlib.suppress(OSError):
                found += map(int, Path(tasks, thread, "children").read_text().split())
    return found


if __name__ == "__main__":
    print(json.dumps(_supervise(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4:])))
