"""The report of `grading doctor`: what this machine grants, and a trial kernel."""

from __future__ import annotations

import os
import platform
import sys
import time

from .host_check import grants, require, strongest
from .launch import server
from .policy import CONTAINED, Grant, Policy, SandboxUnavailable
from .seccomp_landlock import landlock_version

_COUNTED_BY_US = {
    "memory": "by the grader, five times a second; shared memory that only a control group sees is refused",
    "processes": "by the limit of the kernel's user",
    "time": "by the grader, five times a second; no process may leave another's end uncounted",
}
_TO_COUNT = (
    "To count everything with control groups (version 2), run `systemd-run --user --scope -p "
    "Delegate=yes grading …`.\nAs root in a container, make /sys/fs/cgroup writable. Grades do "
    "not depend on it."
)
_ORDINARY = 65534  # nobody


def doctor() -> str:
    """A text on the grants of this machine, and whether a sandboxed kernel starts."""
    root = sys.platform == "linux" and os.geteuid() == 0
    lines = [f"Student code on {platform.system()} {platform.release()}, {platform.machine()}", ""]
    lines += _table("as root, the current user" if root else "as the current user", grants())
    if root:
        lines += ["", *_table("as an ordinary user", grants(_ORDINARY))]
    return "\n".join([*lines, "", *_trial_run(strongest(contained=True))])


def _table(title: str, found: tuple[Grant, ...]) -> list[str]:
    return [f"What the system grants {title}:"] + [
        f"  {'yes' if g.granted else 'NO ' if g.required else 'no '}  {g.name:<15} {g.detail}".rstrip() for g in found
    ]


def _trial_run(level: str) -> list[str]:
    missing = ""
    try:
        try:
            require()
        except SandboxUnavailable as problem:
            if level != CONTAINED:
                raise
            missing = problem.missing
        running = server(level=level)
        began = time.perf_counter()
        kernel = running.launch(Policy(), "doctor", "hmac-sha256")
        took = time.perf_counter() - began
        kernel.close()
    except SandboxUnavailable as problem:
        return ["Nothing can be graded here without `--unsandboxed`.", str(problem)]
    if level == CONTAINED:
        return _contained(missing, took)
    lines = ["Resources that all processes of a kernel use together are counted"]
    for what, ourselves in _COUNTED_BY_US.items():
        lines.append(f"  {what:<15} {'by a control group' if what in running.counted else ourselves}")
    if running.counted != _COUNTED_BY_US.keys():
        lines.append(_TO_COUNT)
    return [*lines, "", f"A kernel was confined in {took:.2f} s. Grading is sandboxed on this machine. Level: full."]


def _contained(missing: str, took: float) -> list[str]:
    lines = ["Level: contained, and only where you ask for it: `grading grade-file --contained`.", missing]
    if not landlock_version():
        lines.append("There is no Landlock here, the second barrier: file permissions alone keep student code out.")
    return [*lines, f"A kernel was confined as another user in {took:.2f} s."]
