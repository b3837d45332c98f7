"""The coordinator's side: one warm server for this process, and a handle on each judge.

The coordinator opens the folder in which a file lies, and no file of a student's: the judge does. The server ends with
this process, however that ends, since its socket closes then; and its judges and their kernels with it.

Where processes cannot be forked (`IN_PROCESS`) a judge's work is done here instead, step by step, without its limits.
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
from grading.sandbox import server_process
from grading.sandbox.host_check import require
from grading.sandbox.policy import Policy, SandboxUnavailable, to_dict

from ..notebooks.submitted_file import one_line
from . import framing

IN_PROCESS = not hasattr(os, "fork")
POLICY = Policy(memory=2 * 2**30, cpu_seconds=300, processes=64)
GRADERS, SHARED = "grader_tests", "shared"
LOG = logging.getLogger(__name__)
_START = (
    "import sys; sys.path.append({here!r}); from sandbox import bootstrap; sys.path.pop(); "
    "begun = bootstrap.begin({descriptor}); "
    "from grading.import_blocks import block_slow_imports; block_slow_imports(); "
    "from grading.judge import server; server.main(*begun)"
)
#: What judges that are confined find in os.environ
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "CUDA_VISIBLE_DEVICES": "",  # references are computed on the processor
}
_MESSAGE = 1 << 16
_PATIENCE = 60.0  # seconds for the server to be there, and for a judge that is done to end: they take 1 and 0.1


@dataclass(frozen=True)
class Job:
    """What a judge is to do.

    task      the module that does it, by its full name
    root      the course's directory
    request   what `run` of that module is told
    about     what `warm` of that module is told
    confined  whether the judge is; kernels: whether it is to have sandboxed kernels, which takes that it is
    policy    what it may use; `wall`: seconds by the clock on the wall
    """

    task: str
    root: Path
    request: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    confined: bool = True
    kernels: bool = False
    policy: Policy = POLICY
    wall: float = 600.0

    def line(self) -> bytes:
        """What the server is told of it."""
        told = {"task": self.task, "about": self.about, "kernels": self.kernels}
        return json.dumps({**told, "policy": to_dict(self.policy), "wall": self.wall}).encode()


class JudgeProcess:
    """One judge at work on one file. Raises Unreadable, SandboxUnavailable, SubmissionNotGraded."""

    def __init__(self, work: Job, file: Path, max_bytes: int) -> None:
        self.done, self._confined = False, work.confined
        request = {**work.request, "name": file.name, "max_bytes": max_bytes}
        if IN_PROCESS:
            self._told = _in_process(work, request, file)
            return
        server = server_for(work)
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._line, its_line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            server.start(work, [its_line.fileno(), theirs.fileno(), folder])
            theirs.close()
            its_line.close()
            with suppress(OSError):  # it could not be started: the server says why
                framing.send(answers, request)
        except OSError as error:
            raise SubmissionNotGraded(f"its judge could not be started: {error.strerror}") from error
        finally:
            for one in (theirs, its_line):
                one.close()
            os.close(folder)
        self._answers = answers
        self._told = self._messages(answers)

    def messages(self) -> Iterator[dict[str, Any]]:
        """The judge's messages as they come, until it is done. Raises JudgeFailed and SubmissionNotGraded, too."""
        for message in self._told:
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
        raise SubmissionNotGraded("its judge ended without a word")

    def close(self) -> None:
        """Let go of the judge, which is ended where it is still there."""
        if IN_PROCESS:
            self._told.close()
            return
        if self.done and not self._confined:  # its kernel and its files do not end with it
            select.select([self._line], [], [], _PATIENCE)
        self._line.close()
        self._answers.close()

    def _messages(self, answers: socket.socket) -> Generator[dict[str, Any], None, None]:
        reader = framing.Reader(answers)
        try:
            while True:
                ready, _, _ = select.select([answers, self._line], [], [])
                if answers not in ready:  # it has ended, and all that it said was read
                    break
                message = reader.next()
                if message is None:
                    break
                if not isinstance(message, dict):
                    raise MalformedMessage("it said what is no message")
                yield message
        except MalformedMessage as error:
            raise JudgeFailed(f"was not understood: {error}") from None
        except OSError as error:
            raise SubmissionNotGraded(f"its judge was lost: {error.strerror}") from error
        self._say_how_it_ended()

    def _say_how_it_ended(self) -> None:
        """Raise what the server says of a judge that ended before it was done."""
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
        raise SubmissionNotGraded(f"its judge was lost: {ended.get('failed', 'it ended, and nobody knows why')}")


class _Server:
    """A running server of judges, for one course."""

    def __init__(self, work: Job) -> None:
        self.kind = _kind_of(work)
        self.read: dict[str, int] = dict(_graders_of(work))  # of each file of graders, when it was last changed
        self.directory = tempfile.mkdtemp(prefix="judges-")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment, files, seen = {**os.environ, "OMP_NUM_THREADS": "1"}, None, None
        if work.confined:
            from grading.sandbox import filesystem, launch

            from .confinement import tree_for

            environment, files = launch.ENVIRONMENT, filesystem.plan((str(work.root),))
            seen = tree_for(work.root, files)
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
            answer = self._tell({"tree": seen, "directory": self.directory, "kernels": kernels})
            if "ready" in answer:
                home = os.path.expanduser("~")  # where Python looks for packages, if they are there
                own = {**_ENVIRONMENT, "HOME": home} if work.confined else None
                with suppress(OSError):  # it has ended: whoever wants a judge finds out
                    self.control.send(json.dumps({"path": _path(), "environment": own, "files": files}).encode())
            else:
                self.close()
                log.seek(0)
                written = log.read().decode(errors="replace")
                why = answer.get("error") or "it gave no answer"
                raise SandboxUnavailable(
                    f"The judges' process did not start: {why}", (answer.get("trace", "") + written).strip()
                )

    def _tell(self, setup: dict[str, Any]) -> dict[str, Any]:
        """What it answers, within a time: nothing where it has ended."""
        answer: dict[str, Any] = {}
        with suppress(OSError, ValueError):  # it ended, or does not answer
            self.control.settimeout(_PATIENCE)
            self.control.send(json.dumps(setup).encode())
            answer = json.loads(self.control.recv(_MESSAGE) or b"{}")
        self.control.settimeout(None)
        return answer

    @property
    def alive(self) -> bool:
        return server_process.is_there(self.control)

    def serves(self, work: Job) -> bool:
        """Whether its judges can do this work, and by the graders as they are now."""
        now = _graders_of(work)
        return self.kind == _kind_of(work) and all(self.read.setdefault(*file) == file[1] for file in now)

    def start(self, work: Job, descriptors: list[int]) -> None:
        """Ask for a judge, or, without descriptors, for what takes time to be made ready. Raises OSError."""
        socket.send_fds(self.control, [work.line()], descriptors)

    def close(self) -> None:
        """End the server and what it started."""
        server_process.end(self.control, self.process, self.directory)


_running: list[_Server] = []  # one at most
_starting, _stopped = Lock(), Event()


def server_for(work: Job) -> _Server:
    """This process's server, started now where there is none for such work. Raises SandboxUnavailable."""
    with _starting:
        if _stopped.is_set():
            raise SubmissionNotGraded("grading was stopped")
        if _running and not (_running[0].serves(work) and _running[0].alive):
            close()
        if not _running:
            if work.confined:
                require()
            _running.append(_Server(work))
        return _running[0]


def make_ready(work: Job) -> None:
    """Have a server start on what takes time, while the coordinator does other things."""
    if not IN_PROCESS:
        with suppress(OSError, SandboxUnavailable, SubmissionNotGraded):  # whoever wants a judge finds out
            server_for(work).start(work, [])


def stop() -> None:
    """End this process's server and judges, and start none until `resume`: waiting threads get SubmissionNotGraded."""
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
    """In a forked child: the server is the parent's, and must not stay alive through this process."""
    global _starting
    _starting = Lock()
    for server in _running:
        server.control.close()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _kind_of(work: Job) -> tuple[Any, ...]:
    """Work of one kind is done by one server: for a course, and if confined, with the folders that it was shown.

    Those are mounted as they were; one that is made later, or deleted and made again, it does not see.
    """
    if not work.confined:
        return False, work.root
    from .confinement import of_the_course

    shown = []
    for path in of_the_course(work.root):
        with suppress(FileNotFoundError):  # deleted in this moment
            shown.append(os.stat(path))
    return True, work.root, *((found.st_dev, found.st_ino) for found in shown)


def _graders_of(work: Job) -> list[tuple[str, int]]:
    """The files of the lesson's graders, with the time of their last change."""
    graders = Path(work.about["graders"]) if "graders" in work.about else None
    folders = [graders, graders.parent / SHARED] if graders else []
    return [(str(file), file.stat().st_mtime_ns) for folder in folders for file in folder.rglob("*.py")]


def _path() -> list[str]:
    """Where this process finds modules, without a place that depends on the working directory."""
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
