"""The warm process that judges are forked from; it reads no submission itself.

It keeps libraries and references loaded. It starts as `grading.sandbox.bootstrap`, which calls `main`. If judges are
confined, it has moved into the file tree of `confinement` by then, as the first process of a process namespace, so that
every judge and kernel ends with it. It forks a judge for each request, watches its usage, kills it when it exceeds a
limit, and reports how it ended. Judges may not start a fork server for kernels: this process lends them its own.

Does not cover: what a judge does (`grade_notebook`, `feedback.page`), what it may do (`confinement`).
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

from grading.errors import Unreadable
from grading.sandbox import contained, filesystem, linux, processes, server_process
from grading.sandbox.policy import CONTAINED, SandboxLost, SandboxUnavailable

from ..notebooks.submitted_file import open_error
from . import messages
from .job import REQUESTS, StartJudge, SubmittedFile

MESSAGE = 1 << 16
LOOK_EVERY = 0.2  # seconds between two looks at a judge's usage
MOST_LOGGED = 100  # log records per judge
CRASHES = {4: "illegal instruction", 6: "aborted", 7: "bus error", 8: "arithmetic fault", 11: "segmentation fault"}
CRASHES[31] = "a system call that it may not make"


def main(
    control: socket.socket,
    seen: dict[str, Any] | None,
    files: dict[str, Any] | None,
    forked: server_process.ForkedServer | None,
) -> None:
    """Serve the coordinator at the other end of socket `control`; does not return.

    seen    the visible files, from `filesystem.plan`; None if judges are not confined
    files   the files that kernels will see
    forked  the kernels' fork server, which has received nothing yet
    """
    if seen:
        filesystem.remember_shadowed_mounts(seen)
    with suppress(ConnectionError):
        _Server(control, seen, files, forked).serve()
    os._exit(0)


class _Child:
    """A judge as the server sees it: its process, report socket and limits."""

    def __init__(self, pid: int, line: socket.socket, order: StartJudge, box: contained.Box | None = None) -> None:
        self.pid, self.line, self.box = pid, line, box
        self.policy, self.wall = order.policy, order.wall
        self.begun, self.present = time.monotonic(), _memory(os.getpid())
        self.decided = ""

    def watch(self) -> None:
        """Kill it if it exceeds its limits."""
        if time.monotonic() - self.begun > self.wall:
            self.end(f"took longer than {self.wall:.0f} seconds")
        if sys.platform == "linux":
            family = processes.families({self.pid})[self.pid]
            if sum(map(processes.processor_seconds, family)) > self.policy.cpu_seconds:
                self.end(self.out_of_time)
            if sum(map(_memory, family)) > self.policy.memory + self.present:
                self.end(f"ran out of memory ({self.policy.memory // 2**20} MiB)")

    @property
    def out_of_time(self) -> str:
        return f"used up its processor time ({self.policy.cpu_seconds} seconds)"

    def end(self, why: str) -> None:
        self.decided = self.decided or why
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def ended(self, block: bool = False) -> bool:
        """Whether it has ended; if so, report how."""
        pid, status, usage = os.wait4(self.pid, 0 if block else os.WNOHANG)
        if not pid:
            return False
        code = os.waitstatus_to_exitcode(status)
        if code < 0 and usage.ru_utime + usage.ru_stime > self.policy.cpu_seconds - 0.1:
            self.decided = self.decided or self.out_of_time
        if -code in CRASHES:
            self.decided = self.decided or f"crashed: {CRASHES[-code]}"
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # processes that it may have started
        if self.box:
            contained.end_box(self.box)
        with suppress(OSError):
            self.line.send(messages.encode(messages.JudgeEnded(code, self.decided)))
        self.line.close()
        return True


class _Server:
    """Runs judges, each until it is done or its line is closed."""

    def __init__(
        self,
        control: socket.socket,
        seen: dict[str, Any] | None,
        files: dict[str, Any] | None,
        forked: server_process.ForkedServer | None,
    ) -> None:
        self.control, self.files, self.confined = control, files, files is not None
        self.seen = seen if seen and seen["level"] == CONTAINED else None
        self.judges: list[_Child] = []
        self.forked = forked
        self.kernels: Any = None  # the fork server of kernels
        self.unavailable: SandboxUnavailable | None = None

    def serve(self) -> None:
        """Serve until the coordinator is gone (ConnectionError)."""
        while True:
            lines = [self.control, *(judge.line for judge in self.judges)]
            ready, _, _ = select.select(lines, [], [], LOOK_EVERY if self.judges else None)
            for judge in list(self.judges):
                if judge.line in ready:
                    judge.end("was no longer wanted")
                judge.watch()
                if judge.ended(block=judge.line in ready):
                    self.judges.remove(judge)
            if self.control in ready:
                self.handle_message()

    def handle_message(self) -> None:
        """Preload what the next message needs; if it has descriptors, start a judge."""
        message, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE, 8)
        if not message:
            for judge in self.judges:
                judge.end("lost its coordinator")
                judge.ended(block=True)
            if self.kernels:
                self.kernels.close()
            raise ConnectionResetError("the coordinator is gone")
        order = messages.decode(message, (StartJudge,))
        if order.kernels and (self.kernels is None or not self.kernels.alive):
            starting = Thread(target=self._start_kernels)
            starting.start()
            task = self._preload(order)
            starting.join()
        else:
            task = self._preload(order)
        if descriptors:
            self.start(order, descriptors, task)

    def _start_kernels(self) -> None:
        from grading.sandbox import launch

        forked, self.forked = self.forked, None  # used once: one forked later would hold in memory what judges read
        try:
            self.kernels, self.unavailable = launch.server_of(self.files or {}, forked=forked), None
        except SandboxUnavailable as error:
            self.kernels, self.unavailable = None, error
        except OSError as error:
            self.kernels, self.unavailable = None, SandboxUnavailable(f"The sandbox did not start: {error}")

    def _preload(self, order: StartJudge) -> ModuleType:
        """Import the task's module and let it compute what takes long."""
        task = importlib.import_module(order.task)
        with suppress(Exception):  # an author's error: the judge meets it again and reports it
            task.warm(order.lesson)
        gc.collect()
        gc.freeze()  # memory that is never collected is never written, so judges share it
        return task

    def start(self, order: StartJudge, descriptors: list[int], task: ModuleType) -> None:
        line, *others = descriptors
        report_socket = socket.socket(fileno=line)
        failed: messages.NoSandbox | messages.NotStarted | None = None
        box = None
        if order.kernels and self.unavailable:
            failed = messages.NoSandbox(self.unavailable.missing, self.unavailable.remedy)
        else:
            try:
                if self.seen:
                    box = contained.make_box(self.seen["directory"])
                pid = self._fork(box) if order.kernels else os.fork()
            except OSError as error:
                failed = messages.NotStarted(f"fork: {error.strerror or error}")
                if box:
                    contained.end_box(box)
            else:
                if pid == 0:
                    self._run_child(order, others, task, box)
                self.judges.append(_Child(pid, report_socket, order, box))
        for descriptor in others:
            os.close(descriptor)
        if failed:
            with suppress(OSError):
                report_socket.send(messages.encode(failed))
            report_socket.close()

    def _fork(self, box: contained.Box | None) -> int:
        from grading.sandbox import launch

        return launch.fork_lending(self.kernels, box.path if box else tempfile.gettempdir())

    def _run_child(
        self, order: StartJudge, descriptors: list[int], task: ModuleType, box: contained.Box | None
    ) -> None:
        """Run as a judge; does not return."""
        try:
            for name in ("SIGTERM", "SIGHUP", "SIGPIPE"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator handles it
            os.setsid()
            if self.confined:
                linux.name_process("judge")
            for other in self.judges:
                other.line.close()
            answers = socket.socket(fileno=descriptors[0])
            with suppress(OSError):  # the coordinator may have closed the connection
                for message in self._messages(order, descriptors[1], answers, task, box):
                    messages.send(answers, message)
        finally:
            os._exit(0)

    @contextmanager
    def _private_directory(self) -> Iterator[str]:
        """An empty directory for one judge; if confined, its namespace removes it."""
        if self.confined:
            place = tempfile.mkdtemp()
            os.chmod(place, 0o755)
            yield place
        else:
            with tempfile.TemporaryDirectory(prefix="judge-") as place:
                yield place

    def _messages(
        self, order: StartJudge, folder: int, answers: socket.socket, task: ModuleType, box: contained.Box | None
    ) -> Iterator[Any]:
        try:
            coordinator = messages.Reader(answers, (SubmittedFile, *REQUESTS))
            file, request = coordinator.next(), coordinator.next()
            opened = open_file(folder, file.name)
            os.close(folder)
            policy = order.policy
            if self.confined:
                from . import confinement

                if box:
                    os.environ["TMPDIR"] = tempfile.tempdir = box.path
                else:
                    confinement.mount_private_tmp(policy)
            with self._private_directory() as place:
                ready = task.prepare(request, Path(place))
                if self.confined:
                    kept = [answers.fileno()] if isinstance(opened, Unreadable) else [answers.fileno(), opened]
                    if order.kernels:
                        kept.append(self.kernels.control.fileno())
                    if box and self.seen:
                        confinement.show_to_kernel(Path(place))
                        confinement.drop_rights_as_user(policy, kept, box, self.seen)
                    else:
                        confinement.drop_rights(policy, kept)
                _log_to(answers)
                yield from task.run(request, read_file(opened, file.max_bytes), ready)
            yield messages.Done()
        except Unreadable as reason:
            yield messages.CannotRead(str(reason))
        except SandboxUnavailable as error:
            yield messages.NoSandbox(error.missing, error.remedy)
        except SandboxLost as error:
            yield messages.SandboxEnded(str(error))
        except MemoryError:
            yield messages.OutOfMemory()
        except Exception as error:
            trace = traceback.format_exc()[-10_000:]
            yield messages.GraderRaised(f"{type(error).__name__}: {error}"[:2000], trace)


def open_file(folder: int, name: str) -> int | Unreadable:
    """Descriptor of a file in `folder`, never through a link; or why there is none."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return open_error(error)


def read_file(opened: int | Unreadable, max_bytes: int) -> bytes:
    """Read an open file, up to `max_bytes` + 1 bytes. Raises Unreadable."""
    if isinstance(opened, Unreadable):
        raise opened
    try:
        with open(opened, "rb") as stream:
            # read() allocates as many bytes as it is asked for
            return stream.read(min(max_bytes, os.fstat(stream.fileno()).st_size) + 1)
    except OSError as error:
        raise open_error(error) from error


def _memory(pid: int) -> int:
    """Bytes that are a process's own or shared with those it was forked from."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/statm") as stream:
        _, resident, shared, *_ = map(int, stream.read().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0


class _Log(logging.Handler):
    """Sends log records to the coordinator, up to `MOST_LOGGED` per judge."""

    def __init__(self, answers: socket.socket) -> None:
        super().__init__(logging.WARNING)
        self.answers, self.left = answers, MOST_LOGGED

    def emit(self, record: logging.LogRecord) -> None:
        self.left -= 1
        if self.left >= 0:
            with suppress(Exception):
                messages.send(self.answers, messages.LogRecord(record.levelno, self.format(record)[:10_000]))


def _log_to(answers: socket.socket) -> None:
    logging.getLogger().handlers[:] = [_Log(answers)]
