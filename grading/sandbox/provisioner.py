"""The kernel provisioner `attention-sandbox`: Jupyter clients, confined kernels.

Covers: what jupyter_client needs of a kernel's life, from launch to cleanup. Does not cover: how a kernel is
confined (`kernel_process`, `filesystem`, `seccomp_landlock`), what this machine grants (`host_check`), how long a cell
may run (the runner of cells decides; a kernel's own limits are in `Policy`).

A kernel spec selects it in its metadata:

    {"kernel_provisioner": {"provisioner_name": "attention-sandbox",
                            "config": {"memory": 1073741824, "device": "cpu"}}}
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from .host_check import require
from .policy import FULL, Policy

if TYPE_CHECKING:
    from .launch import Kernel  # cannot be imported where there is no sandbox

_LOOK_EVERY = 0.005  # seconds between two looks at whether a killed kernel has ended


class SandboxProvisioner(KernelProvisionerBase):
    """One sandboxed kernel. Its configuration: the fields of `Policy`, and five more.

    hidden  directories that the kernel must not see, even inside something that it sees
    ahead   modules that are slow to import and that all kernels of this kind use
    lesson  the lesson whose examples the notebook will read
    draws   whether the kernel is likely to make pictures
    level   how it is confined: "full" or "contained"

    Raises ValueError for an invalid limit, TypeError for an unknown name.
    """

    def __init__(
        self,
        hidden: Iterable[str] = (),
        ahead: Iterable[str] = (),
        lesson: str = "",
        draws: bool = False,
        level: str = FULL,
        **given: Any,
    ) -> None:
        limits = {field.name: given.pop(field.name) for field in fields(Policy) if field.name in given}
        if unknown := [name for name in given if name not in self.class_trait_names()]:
            raise TypeError(f"{unknown[0]!r} is not a limit of a sandboxed kernel: see Policy")
        self.policy = Policy(**limits)
        self.server_kind, self.lesson, self.draws = (tuple(hidden), tuple(ahead), level), lesson, draws
        self.level = level
        self._kernel: Kernel | None = None
        self._directory: str | None = None
        super().__init__(**given)

    @property
    def has_process(self) -> bool:
        return self._kernel is not None

    @property
    def pid(self) -> int | None:
        """The kernel's process id here; Jupyter's local provisioner has `pid` too."""
        return None if self._kernel is None else self._kernel.pid

    @property
    def exit_reason(self) -> str | None:
        """Why the kernel has ended, in words; None while it runs or before its start."""
        ended = self._exit_report
        return None if ended is None else str(ended["reason"])

    @property
    def lost(self) -> bool:
        """Whether the kernel has ended with its sandbox, through no fault of its own."""
        ended = self._exit_report
        return ended is not None and bool(ended.get("lost"))

    @property
    def cpu_seconds(self) -> float | None:
        """CPU time that the kernel used in all; None while it runs."""
        ended = self._exit_report
        return None if ended is None or "cpu_seconds" not in ended else float(ended["cpu_seconds"])

    @property
    def _exit_report(self) -> dict[str, Any] | None:
        """The fork server's report on the kernel's end; None before that."""
        return None if self._kernel is None or self._kernel.poll() is None else self._kernel.exit

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Raise SandboxUnavailable if this machine grants less than the sandbox needs."""
        require(self.level)
        return await super().pre_launch(cmd=[], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel with copies of the files in `cwd`, in its own directory.

        `cmd` and `env` are not used: a kernel is forked and inherits nothing.
        """
        from .launch import server

        session = self.parent.session  # type: ignore[union-attr] # the KernelManager
        key, scheme = session.key.decode(), session.signature_scheme
        self._kernel = server(*self.server_kind).launch(
            self.policy, key, scheme, kwargs.get("cwd"), self._directory, self.lesson, self.draws
        )
        self._directory = self._kernel.directory
        self.connection_info = {
            "transport": "ipc",
            "ip": f"{self._directory}/k",
            "key": session.key,
            "signature_scheme": scheme,
            "shell_port": 1,
            "iopub_port": 2,
            "stdin_port": 3,
            "hb_port": 4,
            "control_port": 5,
        }
        return self.connection_info

    async def poll(self) -> int | None:
        return 0 if self._kernel is None else self._kernel.poll()

    async def wait(self) -> int | None:
        while (code := await self.poll()) is None:
            await asyncio.sleep(_LOOK_EVERY)
        return code

    async def send_signal(self, signum: int) -> None:
        if self._kernel is not None:
            self._kernel.signal(signum)

    async def kill(self, restart: bool = False) -> None:
        """End the kernel and everything it started, and wait until they are gone."""
        await self.send_signal(signal.SIGKILL)
        await self.wait()

    async def terminate(self, restart: bool = False) -> None:
        """Call `kill`: all that a kernel leaves ends with it."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """End the kernel if it still runs, and remove its sockets."""
        if self._kernel is None:
            return
        await self.kill()
        self._kernel.close(keep_directory=restart)
