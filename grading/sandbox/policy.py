"""The limits of a kernel, and messages for exceeding them.

One policy holds for all kernels of a grading run; every field can be set in the kernel spec's `kernel_provisioner`
configuration. `host_check` finds out whether this machine can enforce it; `filesystem`, `kernel_process` and
`seccomp_landlock` enforce it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

MEBIBYTE = 2**20
CHANNELS = ("shell", "iopub", "stdin", "hb", "control")
"""The Jupyter channels in the order of their ports, 1 to 5."""
FULL, CONTAINED, NONE = "full", "contained", "none"
"""The levels of the sandbox: with namespaces; without, as another user; an ordinary kernel (docs/security.md)."""


@dataclass(frozen=True)
class Policy:
    """Limits for one kernel: sizes in bytes, times in seconds.

    Time limits of cells, calls and notebooks are not here: the runner of cells enforces them with the channels and the
    kernel's interrupt and kill.
    """

    memory: int = 2048 * MEBIBYTE
    """Limits of a process, and of all processes of a kernel, beyond the needs of torch."""
    cpu_seconds: int = 600
    """CPU time of all the kernel's processes, over its whole life."""
    processes: int = 128
    """Processes and threads, including the kernel's own (about a dozen)."""
    file_size: int = 64 * MEBIBYTE
    """Maximum size of a file."""
    disk: int = 128 * MEBIBYTE
    """Total size of the working directory, /tmp and /dev/shm."""
    files: int = 4096
    """Maximum number of files and directories."""
    open_files: int = 512
    """Open descriptors per process."""
    threads: int = 1
    """Threads of a torch operation."""
    device: str = "cpu"
    """`cuda` shows the kernel this machine's NVIDIA devices, which are hidden otherwise."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables besides the few that every kernel has. Nothing is inherited."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if limit.type == "int" and not (isinstance(value, int) and value > 0):
                raise ValueError(f"{limit.name}: expected a positive integer, got {value!r}")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device: expected 'cpu' or 'cuda', got {self.device!r}")


class Grant(NamedTuple):
    """One requirement of the sandbox: whether it is granted, with `detail` as text."""

    name: str
    granted: bool
    detail: str
    required: bool


class SandboxUnavailable(RuntimeError):
    """This machine cannot confine student code as the policy asks, so none is run.

    `missing` says what is missing, `remedy` how to get it. Can be pickled, because grading workers raise it.
    """

    def __init__(self, missing: str, remedy: str = "") -> None:
        super().__init__(missing, remedy)
        self.missing, self.remedy = missing, remedy

    def __str__(self) -> str:
        return f"{self.missing}\n{self.remedy}" if self.remedy else self.missing


class SandboxLost(RuntimeError):
    """The sandbox ended through no fault of its current or next kernel; retry."""


def exit_reason(code: int, decided: str | None) -> str:
    """Say how a kernel ended, in a phrase that begins with "the kernel".

    `code` is its exit code, or minus the number of the signal that ended it; `decided` is the reason if the sandbox
    or the grader ended it.
    """
    if decided:
        return f"the kernel {decided}"
    if code >= 0:
        return f"the kernel ended itself with exit code {code}"
    if -code in _CRASHES:
        return f"the kernel crashed: {_CRASHES[-code]}"
    return f"the kernel was ended by signal {-code}"


_CRASHES = {4: "illegal instruction", 6: "aborted", 7: "bus error", 8: "arithmetic fault", 11: "segmentation fault"}


def to_dict(policy: Policy) -> dict[str, Any]:
    """The policy as plain data, for messages and reports."""
    return {limit.name: getattr(policy, limit.name) for limit in fields(policy)}
