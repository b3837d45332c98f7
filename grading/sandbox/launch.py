"""The grading process's side: one fork server per process, a handle per kernel.

`server` starts one on first use. It ends with this process, however that ends, because its socket closes then. After a
fork of this process, the child has a server of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from . import contained, filesystem, server_process
from .host_check import trust
from .policy import CHANNELS, CONTAINED, FULL, Policy, SandboxLost, SandboxUnavailable, to_dict

#: A kernel's os.environ, apart from its policy's variables. Nothing of the teacher's is passed on.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "USER": "student",
    "HOME": filesystem.TEMPORARY,
    "TMPDIR": filesystem.TEMPORARY,
    "IPYTHONDIR": f"{filesystem.TEMPORARY}/.ipython",
    "MPLCONFIGDIR": f"{filesystem.TEMPORARY}/.matplotlib",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "TERM": "xterm-color",
    "CLICOLOR": "1",
    "FORCE_COLOR": "1",
    "CLICOLOR_FORCE": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
    "ATTENTION_MEMORY": "off",  # a learner's saved progress has no place in grading
}
START = (
    "import sys; sys.path.append({here!r}); from sandbox import forkserver; sys.path.pop(); "
    "forkserver.main({descriptor})"
)
_MESSAGE = 1 << 16
_CREDENTIALS = struct.Struct("3i")  # struct ucred: process, user, group
_open_sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class ForkServer:
    """A running fork server for the files `arranged` by `filesystem.plan`.

    It is a new process, or was `forked` earlier by `bootstrap` and has received nothing yet. Threads may share it.
    """

    def __init__(
        self, arranged: dict[str, Any], ahead: tuple[str, ...] = (), forked: server_process.ForkedServer | None = None
    ) -> None:
        self.directory = tempfile.mkdtemp(prefix="attention-", dir=_short_directory())
        self.process: subprocess.Popen[bytes] | server_process.ForkedServer
        self.count = 0
        self.counted: frozenset[str] = frozenset()
        """Which of "time", "memory" and "processes" control groups count for each kernel."""
        self.lock = threading.Lock()
        with tempfile.TemporaryFile() as log:  # not in the directory, which the server removes
            if forked:
                self.process, self.control = forked, forked.control
                _open_sockets.add(self.control)
            else:
                self.process, self.control = _start(log)
            answer: dict[str, Any] = {}
            with suppress(OSError):  # it ended, or does not answer
                setup = {"tree": arranged, "directory": self.directory, "ahead": ahead}
                self.control.send(json.dumps(setup).encode())
                if server_process.wait_for_answer(self.control, self.process.pid):
                    answer = json.loads(self.control.recv(_MESSAGE) or b"{}")
            if "ready" in answer:
                self.counted = frozenset(answer["counted"])
                return
            self.close()
            log.seek(0)
            written = log.read().decode(errors="replace")
        raise SandboxUnavailable(
            f"The sandbox did not start: {answer.get('error') or 'it gave no answer'}",
            (answer.get("trace", "") + written).strip(),
        )

    @property
    def alive(self) -> bool:
        """Whether it takes requests: its end of the socket closes first."""
        return server_process.takes_requests(self.control)

    def launch(
        self,
        policy: Policy,
        key: str,
        scheme: str,
        files: str | None = None,
        directory: str | None = None,
        lesson: str = "",
        draws: bool = False,
    ) -> Kernel:
        """Start a kernel with copies of the files in the directory `files`.

        directory  where its channels are, sockets named as for jupyter_client's ipc transport (None: a new one)
        lesson     the lesson whose examples the kernel finds already read
        draws      whether the kernel finds pyplot already imported

        Returns once the kernel has confined itself, before it answers. Raises SandboxUnavailable if it could not be
        confined, and SandboxLost if this server has ended.

        The key bypasses the server, because the next kernels inherit the server's memory.
        """
        if files is not None and not os.path.isdir(files):
            raise NotADirectoryError(f"expected a kernel's files in a directory, got {files}")
        if directory is None:
            with self.lock:
                self.count += 1
                directory = os.path.join(self.directory, str(self.count))
            os.mkdir(directory, 0o700)
        request = {"policy": to_dict(policy), "signature_scheme": scheme, "lesson": lesson, "draws": draws}
        line, theirs = _pair()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # messages then carry their sender
        with ExitStack() as stack:
            stack.enter_context(theirs)
            descriptors = [theirs.fileno(), _readable(key.encode(), stack)]
            for port in range(1, len(CHANNELS) + 1):
                channel = stack.enter_context(socket.socket(socket.AF_UNIX))
                path = f"{directory}/k-{port}"
                with suppress(FileNotFoundError):
                    os.unlink(path)
                channel.bind(path)
                channel.listen()
                descriptors.append(channel.fileno())
            if files is not None:
                descriptors.append(os.open(files, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
                stack.callback(os.close, descriptors[-1])
            with self.lock, suppress(ConnectionError):  # the kernel then gives no answer
                socket.send_fds(self.control, [json.dumps(request).encode()], descriptors)
        try:
            return Kernel(line, directory, self.process.pid)
        except (SandboxUnavailable, SandboxLost, OSError):
            line.close()
            shutil.rmtree(directory, ignore_errors=True)
            raise

    def close(self) -> None:
        """End the server and its kernels, and remove what it used."""
        server_process.end(self.control, self.process, self.directory)


class Kernel:
    """One kernel, seen from outside.

    `pid` is its process id here, as the system gives it for the sender of the first message; `server` that of the fork
    server, which is to send it.
    """

    def __init__(self, line: socket.socket, directory: str, server: int) -> None:
        self.line, self.directory = line, directory
        self.pid: int | None = None
        self.exit: dict[str, Any] | None = None
        answer: dict[str, Any] = {}
        if server_process.wait_for_answer(line, server):
            message, sender, _, _ = line.recvmsg(_MESSAGE, socket.CMSG_SPACE(_CREDENTIALS.size))
            if not message:
                raise SandboxLost("the sandbox ended before it started a kernel")
            answer = json.loads(message)
            for _, kind, data in sender:
                if kind == socket.SCM_CREDENTIALS:
                    self.pid = _CREDENTIALS.unpack(data)[0]
        if "confined" not in answer:
            why = answer.get("failed") or answer.get("reason") or "it gave no answer"
            raise SandboxUnavailable(f"A kernel could not be confined: {why}")
        line.setblocking(False)

    def poll(self) -> int | None:
        """The exit code, or minus the number of a fatal signal; None while it runs."""
        if self.exit is None:
            try:
                message = self.line.recv(_MESSAGE)
            except BlockingIOError:
                return None
            except OSError:
                message = b""
            lost: dict[str, Any] = {"code": -9, "reason": "the kernel ended with its sandbox", "lost": True}
            self.exit = json.loads(message) if message else lost
        return int(self.exit["code"])

    def signal(self, number: int) -> None:
        """Send a signal to the kernel's process group, if it still runs."""
        with suppress(OSError):
            self.line.send(json.dumps({"signal": int(number)}).encode())

    def close(self, keep_directory: bool = False) -> None:
        """Release the kernel, killed if it still runs, and remove its sockets."""
        self.line.close()
        if not keep_directory:
            shutil.rmtree(self.directory, ignore_errors=True)


def _start(log: IO[bytes]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a fork server's process; return it and our end of its socket."""
    ours, theirs = _pair()
    with theirs:
        code = START.format(here=str(Path(__file__).parents[1]), descriptor=theirs.fileno())
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code],
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return process, ours


def _short_directory() -> str:
    """A directory for sockets, which may have paths of at most 107 characters."""
    return tempfile.gettempdir() if len(tempfile.gettempdir()) < 70 else "/tmp"


def _pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    _open_sockets.add(ours)
    return ours, theirs


def _readable(content: bytes, stack: ExitStack) -> int:
    """A descriptor from which `content` can be read once."""
    ours, theirs = os.pipe()
    stack.callback(os.close, ours)
    with open(theirs, "wb") as stream:
        stream.write(content)
    return ours


_lent: list[ForkServer] = []  # at most one: the server that a child of `fork_lending` may ask
_servers: dict[tuple[str, tuple[str, ...]], ForkServer] = {}
_lock = threading.Lock()


def server(hidden: tuple[str, ...] = (), ahead: tuple[str, ...] = (), level: str = FULL) -> ForkServer:
    """This process's fork server of this kind, started now if none is running.

    `hidden` names more directories that kernels must not see; `ahead` names more modules to import once, in the server.
    """
    if _lent:
        return _lent[0]
    arranged = filesystem.plan(hidden, level)
    if level == CONTAINED:
        contained.demand_privacy(arranged)
    return server_of(arranged, ahead)


def server_of(
    arranged: dict[str, Any], ahead: tuple[str, ...] = (), forked: server_process.ForkedServer | None = None
) -> ForkServer:
    """As `server`, for files already `arranged`. Uses `forked` if none is running."""
    kind = json.dumps(arranged), ahead  # hidden paths that would not be visible anyway make no difference
    with _lock:
        if kind in _servers and not _servers[kind].alive:
            _servers.pop(kind).close()
        if kind not in _servers:
            _servers[kind] = ForkServer(arranged, ahead, forked)
        return _servers[kind]


@atexit.register
def close_all() -> None:
    """End every fork server of this process, with its kernels."""
    with _lock:
        while _servers:
            _servers.popitem()[1].close()


def _forget() -> None:
    """Close the parent's servers in a forked child, which would keep them alive."""
    global _lock
    _lock = threading.Lock()
    _servers.clear()
    for inherited in list(_open_sockets):
        inherited.close()


os.register_at_fork(after_in_child=_forget)


def fork_lending(running: ForkServer, directory: str) -> int:
    """Fork a child that may not start a fork server; `server` returns this one.

    The sockets of the child's kernels are in `directory`, which only the child has to reach.
    """
    control = running.control.dup()  # this process's own sockets are closed in the child
    try:
        pid = os.fork()
    except OSError:
        control.close()
        raise
    if pid:
        control.close()
        return pid
    running.control, running.directory, running.count = control, directory, 0
    _lent.append(running)
    trust()
    return 0
