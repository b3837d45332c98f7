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
from pathlib import Path
from threading import Event, Lock
from typing import Any

import course
import grading
from grading.errors import JudgeFailed, MalformedMessage, SubmissionNotGraded, Unreadable
from grading.safe_text import one_line
from grading.sandbox import server_process
from grading.sandbox.host_check import require
from grading.sandbox.policy import CONTAINED, SandboxUnavailable

from . import messages
from .job import SHARED, Job, SubmittedFile

IN_PROCESS = not hasattr(os, "fork")
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


class JudgeProcess:
    """One judge working on one file.

    Raises Unreadable, SandboxUnavailable or SubmissionNotGraded.
    """

    def __init__(self, job: Job[Any], file: Path, max_bytes: int) -> None:
        self.done, self._confined = False, job.confined
        if IN_PROCESS:
            self._incoming = _in_process(job, file)
            return
        server = server_for(job)
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._line, its_line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            server.start(job, [its_line.fileno(), theirs.fileno(), folder])
            theirs.close()
            its_line.close()
            with suppress(OSError):  # the judge did not start: the server reports why
                messages.send(answers, SubmittedFile(file.name, max_bytes))
                messages.send(answers, job.request)
        except OSError as error:
            raise SubmissionNotGraded(f"its judge could not be started: {error.strerror}") from error
        finally:
            for end in (theirs, its_line):
                end.close()
            os.close(folder)
        self._answers = answers
        self._incoming = self._messages(answers)

    def messages(self) -> Iterator[Any]:
        """Yield what the judge returns until it is done. Also raises JudgeFailed."""
        for message in self._incoming:
            match message:
                case messages.Done():
                    self.done = True
                    return
                case messages.LogRecord(level, text):
                    LOG.log(level, "%s", _printable(text))
                case messages.CannotRead(why):
                    raise Unreadable(why)
                case messages.NoSandbox(missing, remedy):
                    raise SandboxUnavailable(missing, remedy)
                case messages.SandboxEnded(why):
                    raise SubmissionNotGraded(why)
                case messages.OutOfMemory():
                    raise JudgeFailed("ran out of memory")
                case messages.GraderRaised(error, trace):
                    LOG.error("%s", _printable(trace))
                    raise JudgeFailed(f"failed: {one_line(error)}")
                case _:
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

    def _messages(self, answers: socket.socket) -> Generator[Any, None, None]:
        reader = messages.Reader(answers, messages.FROM_JUDGE)
        try:
            while True:
                ready, _, _ = select.select([answers, self._line], [], [])
                if answers not in ready:  # it has ended, and everything it sent was read
                    break
                message = reader.next()
                if message is None:
                    break
                yield message
        except MalformedMessage as error:
            raise JudgeFailed(f"was not understood: {error}") from None
        except ConnectionResetError:  # it ended before it had read its request
            pass
        self._raise_why_ended()

    def _raise_why_ended(self) -> None:
        """Raise the error that fits the server's report on a judge that ended early."""
        ended: Any = None
        with suppress(OSError, MalformedMessage):
            ended = messages.decode(self._line.recv(_MESSAGE), messages.FROM_SERVER)
        match ended:
            case messages.NoSandbox(missing, remedy):
                raise SandboxUnavailable(missing, remedy)
            case messages.NotStarted(why):
                raise SubmissionNotGraded(f"its judge was lost: {why}")
            case messages.JudgeEnded(_, decided) if decided:
                raise JudgeFailed(decided)
            case messages.JudgeEnded(code, _) if code < 0:
                raise SubmissionNotGraded(f"its judge was killed from outside ({signal.Signals(-code).name})")
        raise SubmissionNotGraded("its judge was lost: it ended for an unknown reason")


class _ServerHandle:
    """A running server of judges for one course."""

    def __init__(self, job: Job[Any]) -> None:
        self.kind, self.private = _kind_of(job), set(job.private)
        self.read: dict[str, int] = dict(_graders_of(job))  # modification time of each grader file
        environment, files, seen = {**os.environ, "OMP_NUM_THREADS": "1"}, None, None
        if job.confined:
            from grading.sandbox import contained, filesystem, launch

            from .confinement import tree_for

            environment, files = launch.ENVIRONMENT, filesystem.plan((str(job.root), *job.private), job.level)
            seen = tree_for(job.root, files)
            if job.level == CONTAINED:
                secrets = (str(path) for name in SECRETS for path in job.root.glob(name))
                contained.demand_privacy(files, seen["for_judges"], secrets)
        self.directory = tempfile.mkdtemp(prefix="judges-")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = _START.format(here=str(Path(grading.__file__ or "").parent), descriptor=theirs.fileno())
        with tempfile.TemporaryFile() as log, theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", code],
                env=environment,
                cwd="/" if job.confined else None,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            theirs.close()
            kernels = files["python_path"] if files and job.kernels else None
            seen = seen and {**seen, "directory": self.directory}
            answer = self._set_up({"tree": seen, "directory": self.directory, "kernels": kernels})
            if "ready" in answer:
                home = os.path.expanduser("~")  # Python looks for user packages there
                own = {**_ENVIRONMENT, "HOME": home} if job.confined else None
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
            if server_process.wait_for_answer(self.control, self.process.pid):
                answer = json.loads(self.control.recv(_MESSAGE) or b"{}")
        return answer

    @property
    def alive(self) -> bool:
        return server_process.takes_requests(self.control)

    def serves(self, job: Job[Any]) -> bool:
        """Whether its judges can do this job with the current graders."""
        now = _graders_of(job)
        return (self.kind == _kind_of(job) and self.private >= set(job.private)) and all(
            self.read.setdefault(*file) == file[1] for file in now
        )

    def start(self, job: Job[Any], descriptors: list[int]) -> None:
        """Start a judge; without descriptors, only preload. Raises OSError."""
        socket.send_fds(self.control, [messages.encode(job.start())], descriptors)

    def close(self) -> None:
        """End the server and everything it started."""
        server_process.end(self.control, self.process, self.directory)


_running: list[_ServerHandle] = []  # at most one
_starting, _stopped = Lock(), Event()


def server_for(job: Job[Any]) -> _ServerHandle:
    """A server for this job. Raises SandboxUnavailable or SubmissionNotGraded."""
    with _starting:
        if _stopped.is_set():
            raise SubmissionNotGraded("grading was stopped")
        if _running and not (_running[0].serves(job) and _running[0].alive):
            close()
        if not _running:
            if job.confined:
                require(job.level)
            _running.append(_ServerHandle(job))
        return _running[0]


def make_ready(job: Job[Any]) -> None:
    """Have a server preload what the job needs, in the background."""
    if not IN_PROCESS:
        with suppress(OSError, SandboxUnavailable, SubmissionNotGraded):  # the next request for a judge reports it
            server_for(job).start(job, [])


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


def _kind_of(job: Job[Any]) -> tuple[Any, ...]:
    """Key of the server that can do this job.

    One server serves one course and, if confined, sees only the folders that it mounted at its start.
    """
    if not job.confined:
        return job.level, job.root
    from .confinement import course_folders

    shown = []
    for path in course_folders(job.root):
        with suppress(FileNotFoundError):  # deleted just now
            shown.append(os.stat(path))
    return job.level, job.root, *((found.st_dev, found.st_ino) for found in shown)


def _graders_of(job: Job[Any]) -> list[tuple[str, int]]:
    """The lesson's grader files, with their modification times."""
    folders = [job.lesson.graders, job.lesson.graders.parent / SHARED] if job.lesson else []
    return [(str(file), file.stat().st_mtime_ns) for folder in folders for file in folder.rglob("*.py")]


def _module_path() -> list[str]:
    """This process's module search path, absolute and without the current folder."""
    ours = [str(Path(package.__file__ or "").resolve().parents[1]) for package in (grading, course)]
    return list(dict.fromkeys([*(os.path.abspath(path) for path in sys.path if path), *ours]))


def _printable(text: str) -> str:
    return "\n".join(map(one_line, text.splitlines()))


def _in_process(job: Job[Any], file: Path) -> Generator[Any, None, None]:
    task = importlib.import_module(job.request.task)
    with tempfile.TemporaryDirectory(prefix="judge-") as place:
        ready = task.prepare(job.request, Path(place))
        try:
            yield from task.run(job.request, file.read_bytes(), ready)
            yield messages.Done()
        except OSError as error:
            yield messages.CannotRead(f"The file could not be opened ({error.strerror}).")
        except (SandboxUnavailable, GeneratorExit):
            raise
        except Exception as error:
            yield messages.GraderRaised(f"{type(error).__name__}: {error}", "")
