"""One student's kernel while a notebook is graded: runs cells, asks for observations, survives what the code does.

Covers: time limits (by `Stopwatch`) with an interrupt and then a kill, a kernel that dies, floods of output (cut while
they run), malformed and foreign messages. Does not cover: isolation (the provisioner's), what to run (`execute.py`).
"""

from __future__ import annotations

import contextlib
import copy
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbformat import NotebookNode
from nbformat.v4 import new_output, output_from_msg

from course.protocol.program import Observation, Program
from grading.judge import wire
from grading.judge.wire import NoAnswer

from .reading import plain
from .stopwatch import Stopwatch

MAX_MESSAGE = 64 * 2**20  # bytes; zmq drops the connection of a kernel that sends more at once
MAX_MALFORMED = 100
# Imported before any limit runs: what calls need, and what torch would import at the first gradient or optimizer
AHEAD = ("course.protocol.running", "course.specimens", "torch.fx.experimental.symbolic_shapes", "torch._dynamo")
# Leaves no name; `exit()` in a cell would end the kernel after it
PREPARE = f"*map(__import__, {AHEAD!r}),\nget_ipython().ask_exit = lambda: None"
GRACE = 2.0  # seconds that an interrupted call has to come back
LOOK_EVERY = 0.2  # seconds between two looks at the kernel's process while it is waited for
PATIENCE = 10.0  # times its limit may pass by the clock on the wall until a kernel counts as kept from running


class KernelDied(Exception):
    """The kernel is gone. The message says why, in words for the learner."""


class Starved(Exception):
    """The machine kept a kernel from running, so that nothing is known of what it was asked."""


@dataclass(frozen=True)
class Limits:
    """Times in seconds of a `Stopwatch`, sizes in bytes."""

    cell: float = 30.0
    start: float = 60.0
    output: int = 2 * 2**20


@dataclass
class CellRun:
    """What running a cell gave. `note`: what was cut or stopped, in words."""

    outputs: list[NotebookNode] = field(default_factory=list)
    note: str = ""
    count: int | None = None


class Session:
    """A kernel made by one provisioner. Use as a context manager: leaving it ends the kernel.

    provisioning  what the kernel spec's metadata say of it: `provisioner_name` and `config`
    spent         seconds of a `Stopwatch` in which kernels of this session were waited for
    """

    def __init__(self, kernel_name: str, provisioning: dict[str, Any], cwd: Path, limits: Limits) -> None:
        self.kernel_name, self.provisioning, self.cwd, self.limits = kernel_name, provisioning, cwd, limits
        self.spent = 0.0
        self._manager: KernelManager | None = None
        self._client: BlockingKernelClient | None = None
        self._sockets: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def alive(self) -> bool:
        return self._manager is not None and bool(self._manager.is_alive())

    @property
    def provisioner(self) -> Any:
        """The running kernel's provisioner; None where there is no kernel."""
        return None if self._manager is None else self._manager.provisioner

    def start(self) -> None:
        """Start a fresh kernel in place of the one there is. Raises RuntimeError where none can be had."""
        self.stop()
        self._malformed = 0
        manager = KernelManager(kernel_name=self.kernel_name)
        spec = copy.deepcopy(manager.kernel_spec)
        if spec is None:
            raise RuntimeError(f"no kernel named {self.kernel_name!r} is installed")
        spec.metadata = {**spec.metadata, "kernel_provisioner": self.provisioning}
        manager._kernel_spec = spec
        if os.name == "posix":  # sockets in a private directory instead of ports that anybody can connect to
            self._sockets = tempfile.TemporaryDirectory(prefix="k")
            manager.transport, manager.ip = "ipc", f"{self._sockets.name}/k"
        manager.client_class = "jupyter_client.blocking.client.BlockingKernelClient"
        self._manager = manager
        # One thread: those that wait for a busy machine take ten times longer
        manager.start_kernel(cwd=str(self.cwd), env={**os.environ, "OMP_NUM_THREADS": "1"})
        client = manager.client()
        client.context.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE)
        client.start_channels(stdin=False, hb=False, control=False)
        client.allow_stdin = False
        self._client = client
        self._poller = zmq.Poller()
        self._poller.register(client.shell_channel.socket, zmq.POLLIN)
        self._poller.register(client.iopub_channel.socket, zmq.POLLIN)
        self.wait_until_ready()

    def stop(self) -> None:
        client, manager, self._client, self._manager = self._client, self._manager, None, None
        if client is not None:
            client.stop_channels()
        if manager is not None:
            with contextlib.suppress(Exception):  # a kernel that is gone already
                manager.shutdown_kernel(now=True)
            manager.cleanup_resources()
        if self._sockets is not None:
            self._sockets.cleanup()
            self._sockets = None

    def run(self, code: str, seconds: float | None = None) -> CellRun:
        """Run one cell. Raises KernelDied where the kernel did not outlive it."""
        if self._client is None:
            raise KernelDied("the kernel had ended")
        ran, seconds = CellRun(), seconds or self.limits.cell
        collector = _Collector(ran, self.limits.output)
        message = self._client.execute(code, store_history=True, allow_stdin=False, stop_on_error=False)
        reply = self._await(message, seconds, collector)
        if reply is None:
            ran.note = collector.note or f"stopped after {seconds:g} seconds"
            self._interrupt_or_die(message, None if collector.note else collector, ran.note)
        ran.note = collector.note or ran.note
        return ran

    def ask(self, programs: list[Program], seconds: float) -> list[Observation]:
        """Have programs run in the kernel, together in `seconds`. Raises NoAnswer, and KernelDied where there is no
        kernel after it."""
        try:
            return wire.read(self.evaluate(wire.expression(programs), seconds), len(programs))
        except wire.Malformed:
            raise NoAnswer("the kernel gave no readable answer") from None

    def evaluate(self, expression: str, seconds: float) -> Any:
        """What the kernel says to be the text of an expression's value, which is not to be trusted. Raises as `ask`."""
        if self._client is None:
            raise KernelDied("the kernel had ended")
        message = self._client.execute("", silent=True, user_expressions={"answer": expression}, allow_stdin=False)
        reply = self._await(message, seconds, None)
        if reply is None:
            why = f"took longer than {seconds:g} seconds"
            self._interrupt_or_die(message, None, why)
            raise NoAnswer(why)
        answers = reply.get("user_expressions")
        answer = answers.get("answer") if isinstance(answers, dict) else None
        if not isinstance(answer, dict) or answer.get("status") != "ok":
            raise NoAnswer("the kernel could not run the call")
        data = answer.get("data")
        return data.get("text/plain") if isinstance(data, dict) else None

    def wait_until_ready(self) -> None:
        """Ready: a reply has come, what is published arrives too, and what calls need is imported."""
        assert self._client is not None and self._manager is not None
        begun = self.spent
        while self.spent < begun + self.limits.start:
            if self._await(self._client.kernel_info(), 0.25, None) is not None:
                break
            if not self._manager.is_alive():
                raise RuntimeError(f"the kernel did not start: {self._why_gone()}")
        message = self._client.execute(PREPARE, silent=True, store_history=False)
        if self._await(message, max(1.0, begun + self.limits.start - self.spent), None) is None:
            raise RuntimeError("the kernel did not get ready")

    def _interrupt_or_die(self, message: str, collector: _Collector | None, why: str) -> None:
        assert self._manager is not None
        if self._manager.is_alive():
            self._manager.interrupt_kernel()
            if self._await(message, GRACE, collector) is not None:
                return
        self.stop()
        raise KernelDied(f"{why}, and could not be interrupted")

    def _await(self, message: str, seconds: float, collector: _Collector | None) -> dict[str, Any] | None:
        """The reply's content once the kernel is idle again; None when the time is over or too much was printed."""
        watch = Stopwatch(getattr(self.provisioner, "pid", None))
        try:
            return self._reply(message, seconds, watch, collector)
        finally:
            self.spent += watch.seconds

    def _reply(
        self, message: str, seconds: float, watch: Stopwatch, collector: _Collector | None
    ) -> dict[str, Any] | None:
        reply, idle, looked = None, False, watch.wall
        while reply is None or not idle:
            if watch.wall - looked > LOOK_EVERY:
                if not self.alive:
                    why = self._why_gone()
                    self.stop()
                    raise KernelDied(why)
                if watch.look() > seconds:
                    break
                if watch.wall > PATIENCE * max(seconds, GRACE):
                    self.stop()
                    raise Starved(f"the machine was too busy: in {watch.wall:.0f} seconds the kernel hardly ran")
                looked = watch.wall
            for socket, _ in self._poller.poll(100):
                for kind, parent, content, size in self._receive(socket):
                    if kind == "execute_reply" or kind == "kernel_info_reply":
                        if parent == message:
                            reply, seconds = content, min(seconds, watch.seconds + GRACE)
                    elif kind == "status" and parent == message:
                        idle = content.get("execution_state") == "idle"
                    elif collector is not None and not collector.add(kind, content, size):
                        return None
        return reply

    def _receive(self, socket: zmq.Socket[bytes]) -> Iterator[tuple[str, str, dict[str, Any], int]]:
        """Messages that are there now, at most a hundred, so that a flood cannot keep the clock from being read."""
        assert self._client is not None
        session = self._client.session
        for _ in range(100):
            try:
                parts = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                _, rest = session.feed_identities(parts)
                message = session.deserialize(rest)
                kind, content = message["header"]["msg_type"], message["content"]
                parent = message["parent_header"].get("msg_id", "")
                if not (isinstance(kind, str) and isinstance(content, dict)):
                    raise ValueError("malformed")
            except Exception:  # deserialize raises whatever a stranger's bytes make it raise
                self._malformed += 1
                if self._malformed > MAX_MALFORMED:
                    self.stop()
                    raise KernelDied("sent messages that cannot be read") from None
                continue
            yield kind, parent, content, sum(map(len, parts))

    def _why_gone(self) -> str:
        provisioner = self.provisioner
        reason = getattr(provisioner, "exit_reason", None)
        if reason:
            return str(reason)
        process = getattr(provisioner, "process", None)
        code = process.poll() if process is not None else None
        if code is not None and code < 0:
            return f"the kernel was ended by signal {-code}"
        return f"the kernel ended itself{f' with exit code {code}' if code is not None else ''}"


class _Collector:
    """Outputs of one cell, as a notebook holds them; stops at a number of bytes."""

    def __init__(self, ran: CellRun, limit: int) -> None:
        self.ran, self.left, self.note = ran, limit, ""
        self._clear = False

    def add(self, kind: str, content: dict[str, Any], size: int) -> bool:
        """Whether there is room for more."""
        if kind in ("stream", "display_data", "execute_result", "error"):
            self.left -= size
            if self.left < 0:
                self.note = "stopped: it printed too much"
                self.ran.outputs.append(new_output("stream", name="stdout", text="\n… cut: too much output\n"))
                return False
            if self._clear:
                self.ran.outputs.clear()
                self._clear = False
            with contextlib.suppress(Exception):  # content of another form than the protocol's is no output
                self._append(kind, content)
        elif kind == "clear_output":
            if content.get("wait"):
                self._clear = True
            else:
                self.ran.outputs.clear()
        elif kind == "execute_input":
            count = content.get("execution_count")
            if type(count) is int and count >= 0:  # a kernel may say True, or -1, which no notebook may hold
                self.ran.count = count
        return True

    def _append(self, kind: str, content: dict[str, Any]) -> None:
        output = output_from_msg({"header": {"msg_type": kind}, "msg_type": kind, "content": plain(content)})
        last = self.ran.outputs[-1] if self.ran.outputs else None
        if kind == "stream":
            if not isinstance(output.text, str) or output.name not in ("stdout", "stderr"):
                return
            if last is not None and last.output_type == "stream" and last.name == output.name:
                last.text += output.text
                return
        elif kind == "error":
            output = new_output(
                "error",
                ename=str(output.ename),
                evalue=str(output.evalue)[:2000],
                traceback=[str(line) for line in output.traceback][:200],
            )
        else:
            output.data = NotebookNode(
                {str(mime): value for mime, value in output.data.items() if isinstance(value, str)}
            )
            output.metadata = NotebookNode()
        self.ran.outputs.append(output)
