"""What travels to a worker of a cluster, and what that does with it.

A worker shares no file with the coordinator: it needs the installed package, a lesson's `Kit` (once), and the bytes of
each submission. It unpacks a kit into a directory of its own, which kernels do not see, and grades as a thread of the
coordinator would. It raises nothing: what it could not do it says, as `NoGrade`.

Does not cover: how it gets there (`cluster`), what of the answer is believed (`checked`).
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

from grading.errors import SubmissionNotGraded
from grading.judge.client import GRADERS, SHARED, Job
from grading.sandbox.policy import SandboxUnavailable

from .submission import GradedNotebook, GradingTask, grade

DECIDES = ("attention-course-teach", "torch")  # packages that decide on a grade


@dataclass(frozen=True)
class LessonBundle:
    """What is of a lesson, not of a student.

    versions  of what decides on a grade, where the kit was packed
    files     of the course's directory, by their paths in it
    others    as in a Task
    """

    versions: Mapping[str, str]
    files: Mapping[str, bytes] = field(repr=False)  # what a worker is asked to do may be logged there
    work: Job = field(repr=False)
    max_bytes: int
    seed: str
    config: Config = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """Of the files."""
        whole = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            whole.update(f"{name}\0{len(content)}\0".encode() + content)
        return whole.hexdigest()


@dataclass(frozen=True)
class RemoteSubmission:
    """One submission: the name of its file and what is in it; the exercises whose known mistakes will be asked for."""

    student: str
    name: str
    data: bytes = field(repr=False)
    mistaken: tuple[str, ...]


@dataclass(frozen=True)
class NoGrade:
    """Why there is no grade. worker: its address, where it could grade no submission."""

    why: str
    worker: str = ""


def versions() -> dict[str, str]:
    """What decides on a grade, as it is installed here."""
    public = {name: version(name).partition("+")[0] for name in DECIDES}  # not for which device torch was built
    return {"Python": ".".join(platform.python_version_tuple()[:2]), **public}


def pack(task: GradingTask) -> LessonBundle:
    """The kit of this task's lesson: its graders, what they share, its own cells, and what lies beside its release."""
    root, lesson = task.work.root, task.work.request["lesson"]
    graders = (file for name in (lesson, SHARED) for file in (root / GRADERS / name).rglob("*.py"))
    beside = (file for file in (root / "release" / lesson).rglob("*") if _is_beside(file, root))
    own = [root / "source" / lesson / f"{lesson}.ipynb"]
    files = [file for file in (*graders, *beside, *own) if file.is_file()]
    named = {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
    return LessonBundle(versions(), named, task.work, task.max_bytes, task.seed, task.config)


def _is_beside(file: Path, root: Path) -> bool:
    return file.suffix != ".ipynb" and not any(part.startswith(".") for part in file.relative_to(root).parts)


def grade_sent(kit: LessonBundle, sent: RemoteSubmission) -> GradedNotebook | NoGrade:
    """What a worker does with one submission."""
    here = versions()
    if differing := [name for name, wanted in kit.versions.items() if here[name] != wanted]:
        had = ", ".join(f"{name} {here[name]} and not {kit.versions[name]}" for name in differing)
        return NoGrade(f"has {had}, so its grades might not be those that are made here", get_worker().address)
    try:
        with _turns.of(kit.digest):
            return _graded(kit, sent, _unpacked(kit))
    except SubmissionNotGraded as error:
        return NoGrade(str(error))
    except SandboxUnavailable as error:
        return NoGrade(f"cannot confine student code: {error}", get_worker().address)
    except OSError as error:
        return NoGrade(f"its worker could not keep what it was sent: {error.strerror}")


def _graded(kit: LessonBundle, sent: RemoteSubmission, root: Path) -> GradedNotebook:
    graders = str(root / GRADERS / kit.work.request["lesson"])
    request = {**kit.work.request, "root": str(root), "graders": graders}
    about = {**kit.work.about, "graders": graders, "mistaken": list(sent.mistaken)}
    work = replace(kit.work, root=root, request=request, about=about)
    with tempfile.TemporaryDirectory(prefix="submitted-", dir=root) as folder:
        file = Path(folder) / sent.name
        file.write_bytes(sent.data)
        return grade(GradingTask(sent.student, str(file), work, kit.max_bytes, kit.seed, kit.config))


class _CourseTurns:
    """A process has one server of judges, for one course directory: who needs another waits until nobody is at work,
    and whoever comes after them waits behind them."""

    def __init__(self) -> None:
        self._line, self._change = deque[object](), Condition()
        self._now, self._at_work = "", 0

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        place = object()
        with self._change:
            self._line.append(place)
            self._change.wait_for(lambda: self._line[0] is place and (self._now == what or not self._at_work))
            self._line.popleft()
            self._now, self._at_work = what, self._at_work + 1
            self._change.notify_all()
        try:
            yield
        finally:
            with self._change:
                self._at_work -= 1
                self._change.notify_all()


_turns, _unpacking = _CourseTurns(), Lock()
_place: list[Path] = []  # one at most: this process's own


def _unpacked(kit: LessonBundle) -> Path:
    """The course directory that a kit makes, nobody's but this process's."""
    with _unpacking:
        if not _place:
            _place.append(Path(tempfile.mkdtemp(prefix="graders-", dir=_local())))
            atexit.register(shutil.rmtree, _place[0], ignore_errors=True)
        root = _place[0] / kit.digest
        if not root.exists():
            made = Path(tempfile.mkdtemp(dir=_place[0]))
            for name, content in kit.files.items():
                file = made / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            os.rename(made, root)
        return root


def _local() -> str:
    """Where Dask keeps what is this worker's: what one that was killed has left there, Dask removes."""
    return str(get_worker().local_directory)
