"""Runs one command to its end, whatever it is, and says what it cost and what it left behind.

`supervised` does so from a benchmark; it starts this file as a script, which is the command's parent:

    python -I -S benchmarks/supervise.py SECONDS ADDRESS_SPACE COMMAND...

What the command prints goes to stderr. On stdout comes a line of JSON: `code` (minus the signal's number where one
ended it; null where the time was over), `wall` and `cpu` in seconds, of the command and of all that it started, and
`left`: how many processes were still there when it had ended. Those get a few seconds for what they are up to, and
are then ended too, in whatever session they are. ADDRESS_SPACE bounds each process, in bytes (0: not at all).
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


def _supervise(seconds: float, address_space: int, command: list[str]) -> dict[str, float | int | None]:
    # What a child leaves running becomes a child of ours, so that it can be counted and ended
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun = time.monotonic()
    process = subprocess.Popen(
        command, stdout=sys.stderr, start_new_session=True, preexec_fn=lambda: _bound(address_space)
    )
    code: int | None = None
    with contextlib.suppress(subprocess.TimeoutExpired):
        code = process.wait(seconds)
    wall = time.monotonic() - begun
    left = 0
    if code is None:
        process.kill()
        process.wait()
    else:
        time.sleep(0.2)
        left = len(_children())
        while _children() and time.monotonic() < begun + wall + LINGER:
            time.sleep(0.1)
    while _children():
        for pid in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"code": code, "wall": wall, "cpu": used.ru_utime + used.ru_stime, "left": left}


def _bound(address_space: int) -> None:
    if address_space:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def _children() -> list[int]:
    """Children that are alive; those that have ended are let go."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    paths = Path("/proc/self/task").glob("*/children")
    return [int(pid) for path in paths for pid in path.read_text().split()]


if __name__ == "__main__":
    print(json.dumps(_supervise(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])))
