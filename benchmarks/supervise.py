"""Runs one command to its end, whatever it is, and says what it cost and what it left behind.

`supervised` does so from a benchmark; it starts this file as a script, which is the command's parent:

    python -I -S benchmarks/supervise.py SECONDS ADDRESS_SPACE COMMAND...

What the command prints goes to stderr. On stdout comes a line of JSON: `code` (minus the signal's number where one
ended it; null where the time was over), `wall` and `cpu` in seconds, of the command and of all that it started, and
`left`: how many processes were still there when it had ended. Those get a few seconds for what they are up to, and
are then ended too, in whatever session they are. ADDRESS_SPACE bounds each process, in bytes (0: not at all).
`most` has, for the command itself (`grader`) and for what our course forks to read submissions (`judge`), the most
memory that one such process held, in bytes, and the longest that one ran, in seconds: looked at ten times a second.
Standard library only, so that the script costs next to nothing itself. Linux only.
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
LINGER = 4.0  # seconds for what was left behind: longer than what an attack waits before it strikes


@dataclass(frozen=True)
class CommandRun:
    """How a command ended; see the module."""

    code: int | None
    wall: float
    cpu: float
    left: int
    most: dict[str, dict[str, float]]
    said: str


def supervised(
    command: list[str], cwd: Path, seconds: float, memory: int = 0, variables: dict[str, str] | None = None
) -> CommandRun:
    """Run one of this environment's commands, which finds no variables but a few and those given."""
    programs = Path(sys.executable).parent
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        **(variables or {}),
    }
    script = [sys.executable, "-I", "-S", __file__, str(seconds), str(memory)]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        done = subprocess.run(
            [*script, str(programs / command[0]), *command[1:]],
            cwd=cwd,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        said.seek(0)
        return CommandRun(**json.loads(done.stdout), said=said.read())


def succeeded(ran: CommandRun) -> CommandRun:
    """The same. Raises RuntimeError, with the end of what the command said, where it failed."""
    if ran.code != 0:
        raise RuntimeError(f"the command ended with {ran.code} after {ran.wall:.0f} s:\n{ran.said[-3000:]}")
    return ran


def _supervise(seconds: float, address_space: int, command: list[str]) -> dict[str, object]:
    # What a child leaves running becomes a child of ours, so that it can be counted and ended
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun = time.monotonic()
    process = subprocess.Popen(
        command, stdout=sys.stderr, start_new_session=True, preexec_fn=lambda: _bound(address_space)
    )
    code: int | None = None
    seen = _Seen(process.pid)
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
    return {"code": code, "wall": wall, "cpu": used.ru_utime + used.ru_stime, "left": left, "most": seen.most}


class _Seen:
    """What the processes of a command used, as far as it was looked at."""

    def __init__(self, grader: int) -> None:
        self.grader, self.begun = grader, dict[int, float]()
        self.most = {role: {"bytes": 0.0, "seconds": 0.0} for role in ("grader", "judge")}

    def look(self) -> None:
        now = time.monotonic()
        for pid, role in self._roles():
            used = self.most[role]
            used["seconds"] = max(used["seconds"], now - self.begun.setdefault(pid, now))
            with contextlib.suppress(OSError):  # it has ended
                for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        used["bytes"] = max(used["bytes"], 1024.0 * int(line.split()[1]))

    def _roles(self) -> Iterator[tuple[int, str]]:
        """The command, and the judges: forks of its child that runs grading.judging."""
        yield self.grader, "grader"
        for server in _children(self.grader):
            with contextlib.suppress(OSError):
                if b"grading.judging" in Path(f"/proc/{server}/cmdline").read_bytes():
                    yield from ((judge, "judge") for judge in _children(server))


def _bound(address_space: int) -> None:
    if address_space:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def _left() -> list[int]:
    """Children that are alive; those that have ended are let go."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return _children(os.getpid())


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += map(int, path.read_text().split())
    return found


if __name__ == "__main__":
    print(json.dumps(_supervise(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])))
