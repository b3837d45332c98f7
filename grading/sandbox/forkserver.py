"""The process that kernels are forked from, with torch already imported.

Run as `python -I -S -c "…; from sandbox import forkserver; forkserver.main(fd)"` with one open descriptor, a socket to
the grading process; `launch` does so. `sandbox` is this package under a separate name: the rest of `grading` cannot be
imported here.

There are two processes: the outer one waits, and cleans up at the end; the inner one is the first process of a new
process namespace, so that every kernel ends with it, however it ends. It moves into the file tree (`filesystem`) before
it imports anything that student code will use, runs no torch operation, starts no thread and opens no device. It ends
when the grading process closes its end of the socket, or dies.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import SourceLoader
from typing import Any

from . import cgroups, contained, filesystem, kernel_process, linux, processes
from .policy import CONTAINED, Policy, exit_reason

_WATCH_EVERY = 0.2  # seconds between two looks at the kernels' usage
_CROWD = 32  # more processes than this are a crowd
_MESSAGE = 1 << 16


def main(descriptor: int) -> None:
    """Serve the grading process at the other end of a socket; does not return."""
    os.umask(0o022)
    linux.name_process("kernels")
    control = socket.socket(fileno=descriptor)
    setup = json.loads(control.recv(_MESSAGE))
    view: contained.ContainedView | None = None
    try:
        groups = cgroups.make()
        is_contained = setup["tree"]["level"] == CONTAINED
        # From another namespace of control groups, no kernel could be moved into one
        namespaces = None if is_contained else linux.NAMESPACES & ~linux.NEWCGROUP
        enter_namespaces(control, setup["directory"], namespaces, groups)
        run_kernel_module = _read("kernel")  # it imports torch, and its file will be hidden
        if is_contained:
            view = contained.ContainedView.of(setup["tree"], setup["directory"])
        else:
            filesystem.build(setup["tree"], setup["directory"])
        _preload(setup["tree"], run_kernel_module, setup["ahead"], view.library if view else filesystem.LIBRARY)
        answer: dict[str, Any] = {"ready": True, "counted": sorted(groups.counted) if groups else []}
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    control.send(json.dumps(answer).encode())
    if "ready" in answer:
        try:
            with suppress(ConnectionError):
                Server(control, groups, view).run()
        finally:
            if view:  # the outer process would do it, if nobody has killed it
                contained.end_boxes(view.directory)
    os._exit(0)


def enter_namespaces(
    control: socket.socket, directory: str, namespaces: int | None, groups: cgroups.Groups | None = None
) -> None:
    """Continue in a child that is the first process of its own process namespace, in `namespaces`.

    The parent waits for it, removes `directory` and `groups`, and ends. If the system refuses a process namespace, the
    parent reports that at `control` and ends. Raises OSError if the system refuses another namespace.

    Without `namespaces` (None: the level `contained`), the parent also ends the boxes in `directory`.
    """
    linux.fresh_keyring()
    try:
        if namespaces is None:
            linux.adopt_orphans()
        else:
            if os.geteuid() != 0:
                linux.own_user_namespace()
            linux.unshare(linux.NEWPID)
        inner = os.fork()
    except OSError as error:
        control.send(json.dumps({"error": str(error)}).encode())
        os._exit(1)
    if inner:
        control.close()
        os.waitpid(inner, 0)
        if namespaces is None:
            with suppress(OSError):
                contained.end_boxes(directory)
        if groups:
            groups.remove()
        shutil.rmtree(directory, ignore_errors=True)
        os._exit(0)
    if namespaces is None:
        linux.adopt_orphans()
        os.chmod(directory, 0o711)
    else:
        linux.die_with_parent(signal.SIGKILL)
        linux.unshare(namespaces)


def _read(name: str) -> Callable[[], Any]:
    """Load a module of this package without running it; return a function that does."""
    spec = importlib.util.find_spec(f".{name}", __package__)
    assert spec is not None and isinstance(spec.loader, SourceLoader)
    module, code = importlib.util.module_from_spec(spec), spec.loader.get_code(spec.name)
    assert code is not None

    def run() -> Any:
        exec(code, sys.modules.setdefault(spec.name, module).__dict__)  # noqa: S102 - our own file
        return module

    return run


def _preload(arranged: dict[str, Any], run_kernel_module: Callable[[], Any], ahead: list[str], library: str) -> None:
    sys.path[:] = [path for path in sys.path if path and os.path.exists(path)]
    sys.path += [library] * bool(arranged["course"]) + arranged["python_path"]
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()
    kernel = run_kernel_module()
    course = importlib.import_module("course")
    sys.modules.update(dict.fromkeys(kernel.NEVER))  # None: importing it fails
    _import((*kernel.AHEAD, *ahead))
    for module in pkgutil.walk_packages(course.__path__, "course."):
        importlib.import_module(module.name)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # until here the log, which the grading process reads on failure
        os.dup2(null, standard)
    os.close(null)
    gc.collect()
    gc.freeze()  # memory that is never collected is never written, so kernels share it


def _import(names: Iterable[str]) -> None:
    for name in names:
        with suppress(ImportError):  # a module of another version of ipykernel or matplotlib
            importlib.import_module(name)


def _prepare_to_draw() -> None:
    """Import plotting for this kernel and all later ones, at the first that draws."""
    if "matplotlib.pyplot" not in sys.modules:
        _import(sys.modules[f"{__package__}.kernel"].DRAWING)
        # Imported without a shell, it has not attached itself to one: each kernel imports it again.
        sys.modules.pop("matplotlib_inline.backend_inline", None)
        gc.freeze()


def _read_examples(lesson: str) -> None:
    """Read a lesson's examples once for all its kernels, which saves 0.1 s each.

    They are the course's own, and a kernel that needs them reports missing ones.
    """
    catalog = importlib.import_module("course.notebook.catalog")
    with suppress(Exception):
        if lesson in catalog.lessons():
            catalog.exercises_of(lesson)
            gc.freeze()


@dataclass
class _Child:
    """A kernel as the server sees it: its process, and the line to its client."""

    pid: int
    handle: int
    line: socket.socket
    policy: Policy
    group: cgroups.Group | None
    memory: int
    box: contained.Box | None = None
    decided: str | None = None

    def counts(self, what: str) -> bool:
        """Whether the system counts this for all processes of the kernel."""
        return self.group is not None and what in self.group.counted


class Server:
    """Forks kernels, passes signals on, watches usage, and reports how they ended."""

    def __init__(
        self, control: socket.socket, groups: cgroups.Groups | None, view: contained.ContainedView | None = None
    ) -> None:
        self.control, self.groups, self.view = control, groups, view
        self.kernels: dict[int, _Child] = {}
        self.own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(control, selectors.EVENT_READ, self.start)

    def run(self) -> None:
        """Serve until the grading process is gone (ConnectionError)."""
        looked = time.monotonic()
        while True:
            for event, _ in self.waiting.select(_WATCH_EVERY if self.kernels else None):
                event.data()
            if self.kernels and time.monotonic() - looked >= _WATCH_EVERY:
                self.watch()
                looked = time.monotonic()

    def start(self) -> None:
        """Fork a kernel for the next request on the control socket."""
        message, descriptors, _, _ = socket.recv_fds(self.control, _MESSAGE, 16)
        if not message:
            raise ConnectionResetError("the grading process is gone")
        request = json.loads(message)
        _read_examples(request["lesson"])
        if request["draws"]:
            _prepare_to_draw()
        line = socket.socket(fileno=descriptors[0])
        policy = Policy(**request["policy"])
        memory = policy.memory + _memory(os.getpid())
        group: cgroups.Group | None = None
        box: contained.Box | None = None
        try:
            if self.groups:
                group = self.groups.kernel(memory + policy.disk, policy.processes)
            if self.view:
                box = contained.make_box(self.view.directory)
            else:
                linux.unshare(linux.NEWPID)  # only for the next child, which becomes its first process
            pid = os.fork()
        except OSError as error:
            pid = -1
            line.send(json.dumps({"failed": f"fork: {error}"}).encode())
        if pid == 0:
            kernel_process.become_kernel(request, descriptors, group, box, self.view)
        if not self.view:
            linux.setns(self.own_processes, linux.NEWPID)
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        if pid < 0:
            if box:
                contained.end_box(box)
            if group:
                group.remove()
            return line.close()
        kernel = _Child(pid, os.pidfd_open(pid), line, policy, group, memory, box)
        self.kernels[pid] = kernel
        self.waiting.register(kernel.handle, selectors.EVENT_READ, lambda: self.ended(kernel))
        self.waiting.register(line, selectors.EVENT_READ, lambda: self.signal(kernel))

    def signal(self, kernel: _Child) -> None:
        """Pass on a signal from the grading process; kill the kernel if that is gone."""
        if self.kernels.get(kernel.pid) is not kernel:
            return  # it has ended in the meantime
        message = b""
        with suppress(OSError):
            message = kernel.line.recv(_MESSAGE)
        if message:
            number = json.loads(message)["signal"]
        else:
            number = signal.SIGKILL
            self.waiting.unregister(kernel.line)
        if number == signal.SIGKILL:
            kernel.decided = kernel.decided or "was ended by the grader"
        with suppress(ProcessLookupError):
            os.killpg(kernel.pid, number)

    def ended(self, kernel: _Child) -> None:
        """Report how `kernel` ended; its other processes are gone by then, and its files before the next kernel."""
        _, status, usage = os.wait4(kernel.pid, 0)
        if kernel.box:
            contained.end_user(kernel.box.user)
        code, seconds = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        if kernel.group:
            seconds = kernel.group.processor_seconds()
            if kernel.group.ran_out_of_memory():
                kernel.decided = kernel.decided or _out_of_memory(kernel.policy)
            kernel.group.remove()
        if limit_ended(code, seconds, kernel.policy.cpu_seconds):
            kernel.decided = kernel.decided or _out_of_time(kernel.policy)
        answer = {
            "code": code,
            "reason": exit_reason(code, kernel.decided if code < 0 else None),
            "cpu_seconds": seconds,
        }
        del self.kernels[kernel.pid]
        self.waiting.unregister(kernel.handle)
        with suppress(KeyError):
            self.waiting.unregister(kernel.line)
        os.close(kernel.handle)
        with suppress(OSError):
            kernel.line.send(json.dumps(answer).encode())
        kernel.line.close()
        if kernel.box:
            contained.remove_files(kernel.box)  # may take long, but no kernel starts before

    def watch(self) -> None:
        """Kill each kernel whose processes together exceed its policy.

        Resource limits hold each process alone, but several could each take that much. A control group limits their
        memory by itself, and counts their CPU time.
        """
        uncounted = {pid for pid, k in self.kernels.items() if not (k.counts("time") and k.counts("memory"))}
        families = self._families(uncounted) if uncounted else {}
        for pid, kernel in list(self.kernels.items()):
            family = families.get(pid, [])
            if kernel.group:
                seconds = kernel.group.processor_seconds()
            else:
                seconds = sum(map(processes.processor_seconds, family))
            if seconds > kernel.policy.cpu_seconds:
                self.kill(kernel, _out_of_time(kernel.policy))
            elif not kernel.counts("memory") and _memory_of(family, kernel.memory) > kernel.memory:
                self.kill(kernel, _out_of_memory(kernel.policy))
            elif kernel.box and contained.overfull(kernel.box.path, kernel.policy.disk, kernel.policy.files):
                self.kill(kernel, _out_of_disk(kernel.policy))

    def _families(self, pids: set[int]) -> dict[int, list[int]]:
        """The processes of each of these kernels."""
        boxes = {pid: box.user for pid in pids if (box := self.kernels[pid].box)}
        if not boxes:
            return processes.families(pids)
        owned = processes.owned_by(set(boxes.values()))
        return {pid: owned[user] for pid, user in boxes.items()}

    def kill(self, kernel: _Child, why: str) -> None:
        kernel.decided = why
        with suppress(ProcessLookupError):
            os.kill(kernel.pid, signal.SIGKILL)


def limit_ended(code: int, seconds: float, limit: float) -> bool:
    """Whether a process that ended with `code` used up its processor time, by our count or by the system's.

    The system kills a process by its own count, in ticks, which runs ahead of the exact one on a busy machine.
    """
    return seconds > (limit / 2 if code == -signal.SIGKILL else limit - 0.1)  # our two clocks differ slightly


def _out_of_time(policy: Policy) -> str:
    return f"used up its processor time ({policy.cpu_seconds} seconds)"


def _out_of_memory(policy: Policy) -> str:
    return f"ran out of memory ({policy.memory // 2**20} MiB for all its processes)"


def _out_of_disk(policy: Policy) -> str:
    return f"used more than {policy.disk // 2**20} MiB or {policy.files} files in its directories"


def _memory_of(family: list[int], most: int) -> int:
    """Bytes that processes use together. Shared pages count once, but in full for each process of a crowd: to look at
    its shares would take longer than `_WATCH_EVERY`, and this process starts no kernel during that."""
    together = sum(map(_memory, family))
    return together if together <= most or len(family) > _CROWD else sum(map(_share, family))


def _memory(pid: int) -> int:
    """Bytes of memory, swap and page tables; shared pages count in full."""
    with suppress(OSError), open(f"/proc/{pid}/status") as stream:
        return _kilobytes(stream.read(), "RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:")
    return 0


def _share(pid: int) -> int:
    """Bytes as in `_memory`, but shared pages divided among their users; slower."""
    with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/status") as stream:
        tables = _kilobytes(stream.read(), "VmPTE:")
        try:
            with open(f"/proc/{pid}/smaps_rollup") as shares:
                return tables + _kilobytes(shares.read(), "Pss_Anon:", "Pss_Shmem:", "SwapPss:")
        except PermissionError:  # it denies others access to its memory
            return _memory(pid)
    return 0


def _kilobytes(text: str, *names: str) -> int:
    lines = (line.split() for line in text.splitlines())
    return sum(int(fields[1]) * 1024 for fields in lines if fields[0] in names)
