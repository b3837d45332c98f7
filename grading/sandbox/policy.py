"""What a kernel may use, and the words for what happens when it asks for more.

One policy holds for all kernels of a grading run; every field can be set from the kernel spec's
`kernel_provisioner` configuration. Whether this machine can hold kernels to it is asked in
`system`; how they are held is in `tree`, `child` and `filters`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

MEBIBYTE = 2**20
CHANNELS = ("shell", "iopub", "stdin", "hb", "control")
"""The Jupyter channels in the order of their ports, which are 1 to 5."""


@dataclass(frozen=True)
class Policy:
    """Limits for one kernel: sizes in bytes, times in seconds.

    Time for a cell, a call and a notebook is not here: those who run cells hold it, with the
    channels and the kernel's interrupt and kill.
    """

    memory: int = 2048 * MEBIBYTE
    """What a process, and all processes of the kernel together, may add to what torch takes."""
    cpu_seconds: int = 600
    """Processor time of all the kernel's processes, over its whole life."""
    processes: int = 128
    """Processes and threads, those of the kernel itself (about a dozen) included."""
    file_size: int = 64 * MEBIBYTE
    """The longest that one file may grow."""
    disk: int = 128 * MEBIBYTE
    """Everything in the working directory, /tmp and /dev/shm together."""
    files: int = 4096
    """How many files and directories there may be."""
    open_files: int = 512
    """Descriptors that a process may hold."""
    threads: int = 1
    """Threads that torch uses within an operation."""
    device: str = "cpu"
    """`cuda` shows the kernel this machine's NVIDIA devices; they are hidden otherwise."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables to set beside the few that every kernel has. Nothing is inherited."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if limit.type == "int" and not (isinstance(value, int) and value > 0):
                raise ValueError(f"{limit.name} must be a positive integer, not {value!r}")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be 'cpu' or 'cuda', not {self.device!r}")


class Grant(NamedTuple):
    """One thing that a sandbox asks of the system: whether it is granted, and `detail` in words."""

    name: str
    granted: bool
    detail: str
    required: bool


class SandboxUnavailable(RuntimeError):
    """This machine cannot confine student code as the policy asks, so none is run.

    `missing` says what is missing, `remedy` how to get it. Survives pickling, since it crosses
    from the workers of a grading run.
    """

    def __init__(self, missing: str, remedy: str = "") -> None:
        super().__init__(missing, remedy)
        self.missing, self.remedy = missing, remedy

    def __str__(self) -> str:
        return f"{self.missing}\n{self.remedy}" if self.remedy else self.missing


class SandboxLost(RuntimeError):
    """The sandbox ended while a kernel was in it or was to be made, by no fault of the kernel's: to be tried again."""


def exit_reason(code: int, decided: str | None) -> str:
    """How a kernel ended, in words that begin with "the kernel".

    `code` is its exit code, or minus the signal that ended it; `decided` is what was found against it
    where the sandbox or the grader ended it.
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
    """The policy as plain data, for the wire and for reports."""
    return {limit.name: getattr(policy, limit.name) for limit in fields(policy)}
