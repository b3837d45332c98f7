"""The coordinator's side of judges: one warm server, and a handle on each judge.

The coordinator opens the folder of a submission, but never the file: the judge does. The server ends with this process,
however it ends, because its socket closes then; its judges and their kernels end with the server.

Where processes cannot be forked (`IN_PROCESS`), this process does the judge's work itself, without limits.
"""

from __future__ import annotations

import atexit
import importlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any

import course
import grading
from grading.errors import JudgeFailed, MalformedMessage, SubmissionNotGraded, Unreadable
from grading.safe_text import one_line
from grading.sandbox import server_process
from grading.sandbox.host_check import require
from grading.sandbox.policy import CONTAINED, FULL, NONE, Policy, SandboxUnavailable, to_dict

from . import framing

IN_PROCESS = not hasattr(os, "fork")
POLICY = Policy(memory=2 * 2**30, cpu_seconds=300, processes=64)
GRADERS, SHARED = "grader_tests", "shared"
SECRETS = (".grading-seed*", "gradebook.db")  # in the course directory, closed to judges too
LOG = logging.getLogger(__name__)
_START = (
    "import sys; sys.path.append({here!r}); from sandbox import bootstrap; sys.path.pop(); "
    "begun = bootstrap.begin({descriptor}); "
    "from grading.import_blocks import block_slow_imports; block_slow_imports(); "
    "from grading.judge import server; server.main(*begun)"
)
#: os.environ of confined judges
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "CUDA_VISIBLE_DEVICES": "",  # references are computed on the CPU
}
_MESSAGE = 1 << 16
_PATIENCE = 60.0  # seconds for a finished judge to end, which takes 0.1


@dataclass(frozen=True)
class Job:
    """A judge's task.

    task      full name of the module that does the work
    root      course directory
    request   argument of the module's `prepare` and `run`
    about     argument of the module's `warm`
    level     how the judge is confined; kernels: whether it may start sandboxed kernels, which requires that it is
    private   at the level `contained`, more paths that no kernel may read or change
    policy    limits of the judge; wall: wall-clock limit in seconds
    """

    task: str
    root: Path
    request: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    level: str = FULL
    kernels: bool = False
    policy: Policy = POLICY
    wall: float = 600.0
    private: tuple[str, ...] = ()

    @property
    def confined(self) -> bool:
        return self.level != NONE

    def line(self) -> bytes:
        """The message that asks the server for this job."""
        fields = {"task": self.task, "about": self.about, "kernels": self.kernels}
        return json.dumps({**fields, "policy": to_dict(self.policy), "wall": self.wall}).encode()


class JudgeProcess:
    """One judge working on one file.

    Raises Unreadable, SandboxUnavailable or SubmissionNotGraded.
    """

    def __init__(self, work: Job, file: Path, max_bytes: int) -> None:
        self.done, self._confined = False, work.confined
        request = {**work.request, "name": file.name, "max_bytes": max_bytes}
        if IN_PROCESS:
            self._incoming = _in_process(work, request, file)
            return
        server = server_for(work)
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._line, its_line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            server.start(work, [its_line.fileno(), theirs.fileno(), folder])
            theirs.close()
            its_line.close()
            with suppress(OSError):  # the judge did not start: the server reports why
                framing.send(answers, request)
        except OSError as error:
            raise SubmissionNotGraded(f"its judge could not be started: {error.strerror}") from error
        finally:
            for end in (theirs, its_line):
                end.close()
            os.close(folder)
        self._answers = answers
        self._incoming = self._messages(answers)

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield the judge's messages until it is done. Also raises JudgeFailed."""
        for message in self._incoming:
            if "done" in message:
                self.done = True
                return
            if "log" in message:
                level, text = message["log"]
                LOG.log(int(level), "%s", "\n".join(map(one_line, str(text).splitlines())))
            elif "unreadable" in message:
                raise Unreadable(str(message["unreadable"]))
            elif "unavailable" in message:
                raise SandboxUnavailable(*map(str, message["unavailable"]))
            elif "lost" in message:
                raise SubmissionNotGraded(str(message["lost"]))
            elif "over" in message:
                raise JudgeFailed(str(message["over"]))
            elif "error" in message:
                LOG.error("%s", "\n".join(map(one_line, str(message["trace"]).splitlines())))
                raise JudgeFailed(f"failed: {one_line(str(message['error']))}")
            else:
                yield message
        raise SubmissionNotGraded("its judge ended without a message")

    def close(self) -> None:
        """Release the judge, and end it if it still runs."""
        if IN_PROCESS:
            self._incoming.close()
            return
        if self.done and not self._confined:  # let it end its kernel and remove its files, which would outlive it
            select.select([self._line], [], [], _PATIENCE)
        self._line.close()
        self._answers.close()

    def _messages(self, answers: socket.socket) -> Generator[dict[str, Any], None, None]:
        reader = framing.Reader(answers)
        try:
            while True:
                ready, _, _ = select.select([answers, self._line], [], [])
                if answers not in ready:  # it has ended, and everything it sent was read
                    break
                message = reader.next()
                if message is None:
                    break
                if not isinstance(message, dict):
                    raise MalformedMessage("it sent something that is not a message")
                yield message
        except MalformedMessage as error:
            raise JudgeFailed(f"was not understood: {error}") from None
        except ConnectionResetError:  # it ended before it had read its request
            pass
        self._raise_why_ended()

    def _raise_why_ended(self) -> None:
        """Raise the error that fits the server's report on a judge that ended early."""
        ended = {}
        with suppress(OSError, ValueError):
            ended = json.loads(self._line.recv(_MESSAGE) or b"{}")
        if "unavailable" in ended:
            raise SandboxUnavailable(*ended["unavailable"])
        if ended.get("decided"):
            raise JudgeFailed(ended["decided"])
        code = ended.get("code", 0)
        if code < 0:
            raise SubmissionNotGraded(f"its judge was killed from outside ({signal.Signals(-code).name})")
        raise SubmissionNotGraded(f"its judge was lost: {ended.get('failed', 'it ended for an unknown reason')}")


class _Server:
    """A running server of judges for one course."""

    def __init__(self, work: Job) -> None:
        self.kind, self.private = _kind_of(work), set(work.private)
        self.read: dict[str, int] = dict(_graders_of(work))  # modification time of each grader file
        environment, files, seen = {**os.environ, "OMP_NUM_THREADS": "1"}, None, None
        if work.confined:
            from grading.sandbox import contained, filesystem, launch

            from .confinement import tree_for

            environment, files = launch.ENVIRONMENT, filesystem.plan((str(work.root), *work.private), work.level)
            seen = tree_for(work.root, files)
            if work.level == CONTAINED:
                secrets = (str(path) for name in SECRETS for path in work.root.glob(name))
                contained.demand_privacy(files, seen["for_judges"], secrets)
        self.directory = tempfile.mkdtemp(prefix="judges-")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = _START.format(here=str(Path(grading.__file__ or "").parent), descriptor=theirs.fileno())
        with tempfile.TemporaryFile() as log, theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", code],
                env=environment,
                cwd="/" if work.confined else None,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            theirs.close()
            kernels = files["python_path"] if files and work.kernels else None
            seen = seen and {**seen, "directory": self.directory}
            answer = self._set_up({"tree": seen, "directory": self.directory, "kernels": kernels})
            if "ready" in answer:
                home = os.path.expanduser("~")  # Python looks for user packages there
                own = {**_ENVIRONMENT, "HOME": home} if work.confined else None
                with suppress(OSError):  # it has ended: the next request for a judge reports it
                    self.control.send(json.dumps({"path": _module_path(), "environment": own, "files": files}).encode())
            else:
                self.close()
                log.seek(0)
                written = log.read().decode(errors="replace")
                why = answer.get("error") or "it gave no answer"
                raise SandboxUnavailable(
                    f"The judges' process did not start: {why}", (answer.get("trace", "") + written).strip()
                )

    def _set_up(self, setup: dict[str, Any]) -> dict[str, Any]:
        """The server's answer to `setup`; {} if none comes."""
        answer: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            self.control.send(json.dumps(setup).encode())
            if server_process.answers(self.control, self.process.pid):
                answer = json.loads(self.control.recv(_MESSAGE) or b"{}")
        return answer

    @property
    def alive(self) -> bool:
        return server_process.is_there(self.control)

    def serves(self, work: Job) -> bool:
        """Whether its judges can do this work with the current graders."""
        now = _graders_of(work)
        return (self.kind == _kind_of(work) and self.private >= set(work.private)) and all(
            self.read.setdefault(*file) == file[1] for file in now
        )

    def start(self, work: Job, descriptors: list[int]) -> None:
        """Start a judge; without descriptors, only preload. Raises OSError."""
        socket.send_fds(self.control, [work.line()], descriptors)

    def close(self) -> None:
        """End the server and everything it started."""
        server_process.end(self.control, self.process, self.directory)


_running: list[_Server] = []  # at most one
_starting, _stopped = Lock(), Event()


def server_for(work: Job) -> _Server:
    """A server for this work. Raises SandboxUnavailable or SubmissionNotGraded."""
    with _starting:
        if _stopped.is_set():
            raise SubmissionNotGraded("grading was stopped")
        if _running and not (_running[0].serves(work) and _running[0].alive):
            close()
        if not _running:
            if work.confined:
                require(work.level)
            _running.append(_Server(work))
        return _running[0]


def make_ready(work: Job) -> None:
    """Have a server preload what the work needs, in the background."""
    if not IN_PROCESS:
        with suppress(OSError, SandboxUnavailable, SubmissionNotGraded):  # the next request for a judge reports it
            server_for(work).start(work, [])


def stop() -> None:
    """End the server and its judges, and start none until `resume`.

    Waiting threads get SubmissionNotGraded.
    """
    _stopped.set()
    close()


def resume() -> None:
    _stopped.clear()


def stopped() -> bool:
    return _stopped.is_set()


@atexit.register
def close() -> None:
    """End this process's server."""
    while _running:
        _running.pop().close()


def _forget() -> None:
    """Close the parent's servers in a forked child, which would keep them alive."""
    global _starting
    _starting = Lock()
    for server in _running:
        server.control.close()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _kind_of(work: Job) -> tuple[Any, ...]:
    """Key of the server that can do this work.

    One server serves one course and, if confined, sees only the folders that it mounted at its start.
    """
    if not work.confined:
        return work.level, work.root
    from .confinement import of_the_course

    shown = []
    for path in of_the_course(work.root):
        with suppress(FileNotFoundError):  # deleted just now
            shown.append(os.stat(path))
    return work.level, work.root, *((found.st_dev, found.st_ino) for found in shown)


def _graders_of(work: Job) -> list[tuple[str, int]]:
    """The lesson's grader files, with their modification times."""
    graders = Path(work.about["graders"]) if "graders" in work.about else None
    folders = [graders, graders.parent / SHARED] if graders else []
    return [(str(file), file.stat().st_mtime_ns) for folder in folders for file in folder.rglob("*.py")]


def _module_path() -> list[str]:
    """This process's module search path, absolute and without the current folder."""
    ours = [str(Path(package.__file__ or "").resolve().parents[1]) for package in (grading, course)]
    return list(dict.fromkeys([*(os.path.abspath(path) for path in sys.path if path), *ours]))


def _in_process(work: Job, request: dict[str, Any], file: Path) -> Generator[dict[str, Any], None, None]:
    task = importlib.import_module(work.task)
    with tempfile.TemporaryDirectory(prefix="judge-") as place:
        ready = task.prepare(request, Path(place))
        try:
            yield from task.run(request, file.read_bytes(), ready)
            yield {"done": True}
        except OSError as error:
            yield {"unreadable": f"The file could not be opened ({error.strerror})."}
        except (SandboxUnavailable, GeneratorExit):
            raise
        except Exception as error:
            yield {"error": f"{type(error).__name__}: {error}", "trace": ""}
