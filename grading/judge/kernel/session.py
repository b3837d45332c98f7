"""One student's kernel during grading: runs cells and returns observations.

Covers: time limits (`Stopwatch`) with an interrupt and then a kill, a kernel that dies, floods of output (cut while
they run), malformed and foreign messages, with bounds on what is read (`zmtp`, `outputs`). Does not cover: isolation
(the provisioner), what to run (`run`).
"""

from __future__ import annotations

import contextlib
import copy
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from jupyter_client.manager import KernelManager

from course.harness.program import Observation, Program
from grading.errors import ConnectionBroken, KernelDied, KernelStarved, MalformedReply, NoAnswer
from grading.grader import codec
from grading.sandbox.policy import SandboxLost
from grading.sandbox.stopwatch import Stopwatch

from . import zmtp
from .outputs import CellRun, Collector, parse_content, stop_of

MAX_MESSAGE = codec.MAX_TEXT + 2**20  # bytes; a larger message ends the connection
MAX_HEAD = 2**16  # bytes of a message's header, parent header and metadata, each
MAX_MALFORMED = 100
# Imported before any limit applies: calls need it, or torch imports it at the first gradient or optimizer
AHEAD = (
    "course.harness.runner",
    "course.harness.kept_names",
    "course.sample_models",
    "torch.fx.experimental.symbolic_shapes",
    "torch._dynamo",
)
# Leaves no name; otherwise `exit()` in a cell would end the kernel
PREPARE = f"*map(__import__, {AHEAD!r}),\nget_ipython().ask_exit = lambda: None"
GRACE = 2.0  # seconds that an interrupted call has to return
END_TOLD = 1.0  # seconds to wait for the end of a kernel whose connection is gone
LOOK_EVERY = 0.2  # seconds between two looks at the kernel's process
PATIENCE = 10.0  # multiple of its limit in wall-clock time until a kernel counts as starved


class Message(NamedTuple):
    """A kernel's message with undecoded content. size: bytes of all its parts."""

    kind: str
    parent: str
    content: bytes
    size: int


@dataclass(frozen=True)
class Limits:
    """Times in seconds of a `Stopwatch`, sizes in bytes.

    A cell that prints more than `output` is stopped; `outputs` limits what is kept of all cells together.
    """

    cell: float = 30.0
    start: float = 60.0
    output: int = 2 * 2**20
    outputs: int = 8 * 2**20


class _Manager(KernelManager):
    """Opens no socket, because libzmq would read whatever a kernel writes to it."""

    def _connect_control_socket(self) -> None: ...


class Session:
    """A kernel of one provisioner. A context manager: leaving it ends the kernel.

    Requests raise SandboxLost if the sandbox ended through no fault of the kernel's.

    provisioning  `provisioner_name` and `config`, as in a kernel spec's metadata
    spent         seconds of a `Stopwatch` spent waiting for this session's kernels
    room          bytes of outputs that may still be kept
    """

    def __init__(self, kernel_name: str, provisioning: dict[str, Any], cwd: Path, limits: Limits) -> None:
        self.kernel_name, self.provisioning, self.cwd, self.limits = kernel_name, provisioning, cwd, limits
        self.spent, self.room = 0.0, limits.outputs
        self._manager: KernelManager | None = None
        self._channels: list[zmtp.Channel] = []  # shell and iopub
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
        """The running kernel's provisioner, or None."""
        return None if self._manager is None else self._manager.provisioner

    def start(self) -> None:
        """Replace the kernel with a fresh one. Raises RuntimeError if none starts."""
        self.stop()
        self._malformed = 0
        manager = _Manager(kernel_name=self.kernel_name)
        spec = copy.deepcopy(manager.kernel_spec)
        if spec is None:
            raise RuntimeError(f"no kernel named {self.kernel_name!r} is installed")
        spec.metadata = {**spec.metadata, "kernel_provisioner": self.provisioning}
        manager._kernel_spec = spec
        if os.name == "posix":  # sockets in a private directory, not ports that anybody can connect to
            self._sockets = tempfile.TemporaryDirectory(prefix="k")
            manager.transport, manager.ip = "ipc", f"{self._sockets.name}/k"
        self._manager = manager
        # One thread: on a busy machine, more take ten times longer. Saved progress is for learners
        settings = {"OMP_NUM_THREADS": "1", "ATTENTION_MEMORY": "off"}
        manager.start_kernel(cwd=str(self.cwd), env={**os.environ, **settings})
        self.wait_until_ready()

    def stop(self) -> None:
        channels, manager, self._channels, self._manager = self._channels, self._manager, [], None
        for channel in channels:
            channel.close()
        if manager is not None:
            with contextlib.suppress(Exception):  # it is already gone
                manager.shutdown_kernel(now=True)
            manager.cleanup_resources()
        if self._sockets is not None:
            self._sockets.cleanup()
            self._sockets = None

    def run(self, code: str, seconds: float | None = None, *, keep: bool = True) -> CellRun:
        """Run a cell; keep: its outputs. Raises KernelDied if the kernel ends."""
        ran, seconds = CellRun(), seconds or self.limits.cell
        collector = Collector(ran, self.limits.output, self.room if keep else 0)
        message = self._request(code=code, silent=False, store_history=True)
        try:
            reply = self._await(message, seconds, collector)
            if reply is not None:
                ran.stop = stop_of(reply, code)
            else:
                ran.note = collector.note or f"stopped after {seconds:g} seconds"
                self._interrupt_or_die(message, None if collector.note else collector, ran.note)
        finally:
            self.room = collector.room if keep else self.room
        ran.note = collector.note or ran.note
        return ran

    def ask(self, programs: list[Program], seconds: float, first: str = "") -> list[Observation]:
        """Run programs in the kernel, within `seconds` in all.

        first: an expression to evaluate before them

        Raises NoAnswer, or KernelDied if there is no kernel afterwards.
        """
        try:
            return codec.decode_reply(self.evaluate(codec.expression(programs, first), seconds), len(programs))
        except MalformedReply:
            raise NoAnswer("the kernel gave no readable answer") from None

    def evaluate(self, expression: str, seconds: float) -> Any:
        """An expression's value as text, which is not to be trusted. Raises as `ask`."""
        message = self._request(code="", silent=True, store_history=False, user_expressions={"answer": expression})
        content = self._await(message, seconds, None)
        if content is None:
            why = f"took longer than {seconds:g} seconds"
            self._interrupt_or_die(message, None, why)
            raise NoAnswer(why)
        reply: Any = parse_content(content)
        for key in ("user_expressions", "answer"):
            reply = reply.get(key) if isinstance(reply, dict) else None
        if not isinstance(reply, dict) or reply.get("status") != "ok":
            raise NoAnswer("the kernel could not run the call")
        data = reply.get("data")
        return data.get("text/plain") if isinstance(data, dict) else None

    def wait_until_ready(self) -> None:
        """Wait for a reply, for published messages, and for the imports of calls."""
        begun = self.spent
        self._connect()
        while self.spent < begun + self.limits.start:
            if self._await(self._send("kernel_info_request", {}), 0.25, None) is not None:
                break
            if not self.alive:
                self._raise_not_started()
        message = self._request(code=PREPARE, silent=True, store_history=False)
        if self._await(message, max(1.0, begun + self.limits.start - self.spent), None) is None:
            raise RuntimeError("the kernel did not become ready")

    def _connect(self) -> None:
        """Connect once the kernel listens, some time after its start."""
        assert self._manager is not None
        info, watch = self._manager.get_connection_info(), Stopwatch(getattr(self.provisioner, "pid", None))
        ports = {"DEALER": info["shell_port"], "SUB": info["iopub_port"]}
        while not self._channels:
            try:
                for kind, port in ports.items():
                    address = f"{info['ip']}-{port}" if info["transport"] == "ipc" else (info["ip"], port)
                    self._channels.append(zmtp.Channel(address, kind, MAX_MESSAGE))
            except OSError:
                while self._channels:
                    self._channels.pop().close()
                if not self.alive or watch.look() > self.limits.start:
                    self._raise_not_started()
                time.sleep(0.02)
        self.spent += watch.seconds

    def _request(self, **content: Any) -> str:
        """Ask the kernel to execute; return the message id. Raises KernelDied."""
        return self._send("execute_request", {**content, "allow_stdin": False, "stop_on_error": False})

    def _send(self, kind: str, content: dict[str, Any]) -> str:
        if self._manager is None or not self._channels:
            raise KernelDied("the kernel had ended")
        session = self._manager.session
        message = session.msg(kind, content)
        self._channels[0].send(session.serialize(message))
        return str(message["header"]["msg_id"])

    def _interrupt_or_die(self, message: str, collector: Collector | None, why: str) -> None:
        assert self._manager is not None
        if self._manager.is_alive():
            self._manager.interrupt_kernel()
            if self._await(message, GRACE, collector) is not None:
                return
        self.stop()
        raise KernelDied(f"{why}, and could not be interrupted")

    def _await(self, message: str, seconds: float, collector: Collector | None) -> bytes | None:
        """The reply once the kernel is idle; None past its time or output limit."""
        watch = Stopwatch(getattr(self.provisioner, "pid", None))
        try:
            return self._reply(message, seconds, watch, collector)
        finally:
            self.spent += watch.seconds

    def _reply(self, message: str, seconds: float, watch: Stopwatch, collector: Collector | None) -> bytes | None:
        reply, idle, looked = None, False, watch.wall
        while reply is None or not idle:
            if watch.wall - looked > LOOK_EVERY:
                if not self.alive:
                    self._give_up(self._why_gone())
                if watch.look() > seconds:
                    break
                if watch.wall > PATIENCE * max(seconds, GRACE):
                    self.stop()
                    raise KernelStarved(f"the machine was too busy: in {watch.wall:.0f} seconds the kernel hardly ran")
                looked = watch.wall
            for incoming in self._messages():
                if incoming.kind in ("execute_reply", "kernel_info_reply"):
                    if incoming.parent == message:
                        reply, seconds = incoming.content, min(seconds, watch.seconds + GRACE)
                elif incoming.kind == "status" and incoming.parent == message:
                    idle = parse_content(incoming.content).get("execution_state") == "idle"
                elif collector is not None and not collector.add(incoming.kind, incoming.content, incoming.size):
                    return None
        return reply

    def _messages(self) -> Iterator[Message]:
        """Yield messages that are there now, bounded so that the clock is still read."""
        zmtp.wait(self._channels, 0.1)
        for channel in self._channels:
            try:
                for parts in channel.receive():
                    if (message := self._read(parts)) is not None:
                        yield message
                channel.flush()
            except ConnectionBroken as broken:
                self._give_up(self._why_gone(str(broken)))

    def _read(self, parts: list[bytes]) -> Message | None:
        """Parse a message; None unless it is one that a kernel with our key may send."""
        assert self._manager is not None
        session = self._manager.session
        try:
            _, rest = session.feed_identities(parts)
            if max(map(len, rest[1:4])) > MAX_HEAD:
                raise ValueError("malformed")
            message = session.deserialize(rest, content=False)
            kind, parent = message["header"]["msg_type"], message["parent_header"].get("msg_id", "")
            if isinstance(kind, str) and isinstance(parent, str):
                return Message(kind, parent, rest[4], sum(map(len, parts)))
        except Exception:  # deserialize may raise anything on malformed bytes
            pass
        self._malformed += 1
        if self._malformed > MAX_MALFORMED:
            self._give_up("sent messages that cannot be read")
        return None

    def _raise_not_started(self) -> NoReturn:
        why = f"the kernel did not start: {self._why_gone()}"
        raise SandboxLost(why) if getattr(self.provisioner, "lost", False) else RuntimeError(why)

    def _give_up(self, why: str) -> NoReturn:
        lost = getattr(self.provisioner, "lost", False)
        self.stop()
        raise SandboxLost(why) if lost else KernelDied(why)

    def _why_gone(self, otherwise: str = "") -> str:
        """Why the kernel ended, waiting a moment for the report; else `otherwise`."""
        patience = time.monotonic() + (END_TOLD if otherwise else 0.0)
        while self.alive and time.monotonic() < patience:
            time.sleep(0.02)
        if otherwise and self.alive:
            return otherwise
        provisioner = self.provisioner
        reason = getattr(provisioner, "exit_reason", None)
        if reason:
            return str(reason)
        process = getattr(provisioner, "process", None)
        code = process.poll() if process is not None else None
        if code is not None and code < 0:
            return f"the kernel was ended by signal {-code}"
        return f"the kernel ended itself{f' with exit code {code}' if code is not None else ''}"
