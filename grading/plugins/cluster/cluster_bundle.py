"""The lesson bundle for a cluster worker, and grading on that worker.

A worker shares no files with the coordinator. It needs the installed package, a `LessonBundle` per lesson, and the
bytes of each submission. It unpacks a bundle into its own directory, which kernels cannot see, and grades like a local
thread. It never raises: it returns a `NoGrade` if grading fails.

Does not cover: sending the bundle (`cluster`), checking the result (`validate_result`).
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from threading import Condition, Lock

from distributed import get_worker
from traitlets.config import Config

from grading.coordinator.submission import GradingTask, grade
from grading.coordinator.validate_result import SentGrade
from grading.errors import SubmissionNotGraded
from grading.judge.job import GRADERS, SHARED, GradeRequest, Job
from grading.sandbox.policy import SandboxUnavailable

DECIDES = ("attention-course-teach", "torch")  # packages whose versions affect grades


@dataclass(frozen=True)
class LessonBundle:
    """Everything that grading a lesson needs, without any student's work.

    versions  of the packages that affect grades, on the machine that packed the bundle
    files     contents by path in the course directory
    others    as in `GradingTask`
    """

    versions: Mapping[str, str]
    files: Mapping[str, bytes] = field(repr=False)  # a worker may log its tasks
    job: Job[GradeRequest] = field(repr=False)
    max_bytes: int
    seed: str
    config: Config = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the files."""
        whole = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            whole.update(f"{name}\0{len(content)}\0".encode() + content)
        return whole.hexdigest()


@dataclass(frozen=True)
class RemoteSubmission:
    """One submission: the name and bytes of its file.

    `mistaken`: exercises whose known mistakes will be needed.
    """

    student: str
    name: str
    data: bytes = field(repr=False)
    mistaken: tuple[str, ...]


@dataclass(frozen=True)
class NoGrade:
    """Why there is no grade.

    `worker`: the worker's address if it cannot grade any submission.
    """

    why: str
    worker: str = ""


def versions() -> dict[str, str]:
    """The installed versions of Python and of the packages that affect grades."""
    public = {name: version(name).partition("+")[0] for name in DECIDES}  # without torch's suffix for a device
    return {"Python": ".".join(platform.python_version_tuple()[:2]), **public}


def pack(task: GradingTask) -> LessonBundle:
    """Bundle a lesson: graders, shared code, notebook and the release's other files."""
    root, lesson = task.job.root, task.job.request.lesson.name
    graders = (file for name in (lesson, SHARED) for file in (root / GRADERS / name).rglob("*.py"))
    beside = (file for file in (root / "release" / lesson).rglob("*") if _is_beside(file, root))
    own = [root / "source" / lesson / f"{lesson}.ipynb"]
    files = [file for file in (*graders, *beside, *own) if file.is_file()]
    named = {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
    return LessonBundle(versions(), named, task.job, task.max_bytes, task.seed, task.config)


def _is_beside(file: Path, root: Path) -> bool:
    return file.suffix != ".ipynb" and not any(part.startswith(".") for part in file.relative_to(root).parts)


def grade_sent(bundle: LessonBundle, sent: RemoteSubmission) -> SentGrade | NoGrade:
    """Grade one submission on a worker."""
    here = versions()
    if differing := [name for name, wanted in bundle.versions.items() if here[name] != wanted]:
        had = ", ".join(f"{name} {here[name]} instead of {bundle.versions[name]}" for name in differing)
        return NoGrade(f"has {had}, so its grades might differ from those made here", get_worker().address)
    try:
        with _turns.of(bundle.digest):
            return _grade_in(bundle, sent, _unpack(bundle))
    except SubmissionNotGraded as error:
        return NoGrade(str(error))
    except SandboxUnavailable as error:
        return NoGrade(f"cannot confine student code: {error}", get_worker().address)
    except OSError as error:
        return NoGrade(f"its worker could not save the bundle: {error.strerror}")


def _grade_in(bundle: LessonBundle, sent: RemoteSubmission, root: Path) -> SentGrade:
    request = bundle.job.request
    request = replace(request, lesson=replace(request.lesson, root=root, mistaken=sent.mistaken))
    job = replace(bundle.job, root=root, request=request)
    with tempfile.TemporaryDirectory(prefix="submitted-", dir=root) as folder:
        file = Path(folder) / sent.name
        file.write_bytes(sent.data)
        graded = grade(GradingTask(sent.student, str(file), job, bundle.max_bytes, bundle.seed, bundle.config))
        return SentGrade(graded.student, graded.text, graded.diagnosed)


class _CourseTurns:
    """Take turns between course directories: a judge server has only one.

    A task that needs another directory waits until no task is running. Later tasks queue behind it.
    """

    def __init__(self) -> None:
        self._line, self._change = deque[object](), Condition()
        self._now, self._at_work = "", 0

    @contextmanager
    def of(self, digest: str) -> Iterator[None]:
        ticket = object()
        with self._change:
            self._line.append(ticket)
            self._change.wait_for(lambda: self._line[0] is ticket and (self._now == digest or not self._at_work))
            self._line.popleft()
            self._now, self._at_work = digest, self._at_work + 1
            self._change.notify_all()
        try:
            yield
        finally:
            with self._change:
                self._at_work -= 1
                self._change.notify_all()


_turns, _unpack_lock = _CourseTurns(), Lock()
_own_folder: list[Path] = []  # at most one, for this process


def _unpack(bundle: LessonBundle) -> Path:
    """Unpack a bundle into a course directory of this process."""
    with _unpack_lock:
        if not _own_folder:
            _own_folder.append(Path(tempfile.mkdtemp(prefix="graders-", dir=_worker_folder())))
            atexit.register(shutil.rmtree, _own_folder[0], ignore_errors=True)
        root = _own_folder[0] / bundle.digest
        if not root.exists():
            made = Path(tempfile.mkdtemp(dir=_own_folder[0]))
            for name, content in bundle.files.items():
                file = made / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            os.rename(made, root)
        return root


def _worker_folder() -> str:
    """Dask's folder for this worker; Dask cleans up after a killed worker."""
    return str(get_worker().local_directory)
