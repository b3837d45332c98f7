"""The kernel provisioner `attention-sandbox`: Jupyter's own clients, on kernels that reach nothing.

Covers: what jupyter_client asks of a kernel's life, from launch to cleanup. Not here: how a kernel is
confined (`child`, `tree`, `filters`), what this machine grants (`system`), how long a cell may run
(whoever runs cells; a kernel's own limits are in `Policy`).

A kernel spec asks for it in its metadata:

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
from .policy import Policy

if TYPE_CHECKING:
    from .launch import Kernel  # where there is no sandbox, this cannot be imported

_LOOK_EVERY = 0.005  # seconds between two looks at whether a killed kernel is gone


class SandboxProvisioner(KernelProvisionerBase):
    """One sandboxed kernel. Its configuration: the fields of `Policy`, and four more.

    `hidden`: directories that the kernel must not see even where they lie below something that it sees.
    `ahead`: modules that are slow to import and that all these kernels use. `lesson`: the one whose examples its
    notebook will read. `draws`: whether it is likely to make pictures. Raises ValueError for a limit that is none,
    TypeError for a name that is neither.
    """

    def __init__(
        self,
        hidden: Iterable[str] = (),
        ahead: Iterable[str] = (),
        lesson: str = "",
        draws: bool = False,
        **given: Any,
    ) -> None:
        limits = {field.name: given.pop(field.name) for field in fields(Policy) if field.name in given}
        if unknown := [name for name in given if name not in self.class_trait_names()]:
            raise TypeError(f"{unknown[0]!r} is no limit of a sandboxed kernel: see Policy")
        self.policy = Policy(**limits)
        self.server_kind, self.lesson, self.draws = (tuple(hidden), tuple(ahead)), lesson, draws
        self._kernel: Kernel | None = None
        self._directory: str | None = None
        super().__init__(**given)

    @property
    def has_process(self) -> bool:
        return self._kernel is not None

    @property
    def pid(self) -> int | None:
        """The kernel's process, as this process sees it; the ordinary provisioner has this too."""
        return None if self._kernel is None else self._kernel.pid

    @property
    def exit_reason(self) -> str | None:
        """Why the kernel is gone, in words; None while it runs, and before it has started."""
        ended = self._ended
        return None if ended is None else str(ended["reason"])

    @property
    def lost(self) -> bool:
        """Whether the kernel is gone because its sandbox ended, by no fault of its own."""
        ended = self._ended
        return ended is not None and bool(ended.get("lost"))

    @property
    def cpu_seconds(self) -> float | None:
        """Processor time that the kernel has used in all; None while it runs."""
        ended = self._ended
        return None if ended is None or "cpu_seconds" not in ended else float(ended["cpu_seconds"])

    @property
    def _ended(self) -> dict[str, Any] | None:
        """What the fork server said of the kernel's end; None before that."""
        return None if self._kernel is None or self._kernel.poll() is None else self._kernel.exit

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Refuse, with SandboxUnavailable, where this machine grants less than the sandbox needs."""
        require()
        return await super().pre_launch(cmd=[], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel that holds copies of the files in `cwd`, in a working directory of its own.

        `cmd` and `env` are not used: a kernel is forked, and inherits nothing.
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
        """End the kernel and all it started; returns when they are gone, so that nobody has to look again."""
        await self.send_signal(signal.SIGKILL)
        await self.wait()

    async def terminate(self, restart: bool = False) -> None:
        """The same as `kill`: a kernel has nothing to tidy that does not end with it."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """End the kernel if it still runs, and remove its sockets; its files went with it."""
        if self._kernel is None:
            return
        await self.kill()
        self._kernel.close(keep_directory=restart)
