"""Students' submissions in nbgrader's exchange: what is believed of them, and how they are copied.

Students write there, so the name of an entry, its times and its files are claims. `grading watch` and `nbgrader
collect` both list and copy by this module. It opens an entry's folder once, and asks that descriptor for the owner,
the times and the files, so that nothing can be exchanged between a check and its use.

An entry's time is the one in its name only if the file system agrees. A student can set a file's time of modification,
but not the time of the last change to its data, name or rights (ctime).
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from grading.course_dir.student_ids import why_unfit
from grading.errors import StepFailed
from grading.submitted.replaced import STAMP
from grading.submitted.submitted_dir import time_of

SECRET = "submission_secret.txt"  # the last file that nbgrader writes when a student submits
MOST_SECRET = 1000  # bytes; nbgrader's has 128
AGREE = timedelta(minutes=5)  # between the time in a name and the file system's: copying takes time, and clocks differ
UNFINISHED = timedelta(minutes=1)  # after which an entry without secret counts as handed in by another program
MOST_FILES, MOST_DEPTH = 1000, 16  # files and folders of one submission; folders in folders
NOT_FILES = {errno.ELOOP: "it is a link", errno.ENXIO: "it is not an ordinary file"}  # by the error of opening it
CHUNK = 2**20
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Inbound:
    """A submission in the exchange, under its owner's name. Times are in UTC.

    folder   its entry in inbound/
    sent     orders the submissions of one student
    at       when it was handed in, as far as lateness is concerned
    changed  when the file system last saw a change to it
    secret   "" if it is not complete, or another program handed it in
    """

    lesson: str
    student: str
    folder: Path
    sent: datetime
    at: datetime
    changed: datetime
    secret: str = ""

    @property
    def unfinished(self) -> bool:
        return not self.secret and datetime.now(UTC) - self.changed < UNFINISHED


@dataclass(frozen=True)
class InboundList:
    """The submissions in the exchange, and why entries are not among them, by folder."""

    found: list[Inbound] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CopyRules:
    """What is copied of a submission.

    most_bytes, most_of_file  bytes of all files, and of each
    ignore, include           patterns of names; an empty `include` includes all files
    modes                     of files and of folders
    """

    most_bytes: int
    most_of_file: int
    ignore: Collection[str] = ()
    include: Collection[str] = ()
    modes: tuple[int, int] = (0o644, 0o755)


def list_inbound(inbound: Path, lessons: Collection[str], *, check_owner: bool) -> InboundList:
    """List the submissions of these lessons. No entry, whatever its name or files, stops the listing.

    check_owner  whether an entry must belong to the Unix account that its name says
    """
    listed, clock = InboundList(), SharedClock(inbound.parent)
    for name in sorted(os.listdir(inbound)):
        parts = name.rsplit("+", 3)  # as nbgrader does
        if len(parts) < 3 or parts[1] not in lessons:
            continue
        try:
            listed.found.append(_read_entry(inbound / name, parts[0], parts[1], parts[2], check_owner, clock))
        except StepFailed as why:
            listed.refused[inbound / name] = str(why)
        except Exception as error:  # students choose names and files
            listed.refused[inbound / name] = f"it cannot be read ({type(error).__name__})"
    return listed


def latest(submissions: Iterable[Inbound], due: datetime | None = None) -> Inbound:
    """The last of a student's submissions that came by the due date, or else the last one."""
    every = list(submissions)
    return max([one for one in every if due is None or one.at <= due] or every, key=lambda one: one.sent)


def _read_entry(folder: Path, student: str, lesson: str, when: str, check_owner: bool, clock: SharedClock) -> Inbound:
    if why := why_unfit(student):
        raise StepFailed(why)
    told = time_of(when)
    if told is None:
        raise StepFailed("its name has no time in nbgrader's form, such as 2026-11-21 08:00:00.000000 UTC")
    with open_entry(folder, student if check_owner else "") as opened:
        changed = os.fstat(opened).st_ctime
        with suppress(FileNotFoundError):
            changed = max(changed, os.stat(f"{lesson}.ipynb", dir_fd=opened, follow_symlinks=False).st_ctime)
        entry = Inbound(lesson, student, folder, told, told, told, _secret(SECRET, opened))
    return believed(entry, changed, clock)


def believed(entry: Inbound, changed: float, clock: SharedClock) -> Inbound:
    """The entry with the times that count. changed: the file system's time of the last change (ctime)."""
    seen = datetime.fromtimestamp(changed, UTC)
    if abs(seen - entry.sent) > AGREE:
        seen -= timedelta(seconds=clock.ahead)
    if abs(seen - entry.sent) <= AGREE:
        return replace(entry, at=entry.sent, changed=seen)
    return replace(entry, sent=min(entry.sent, seen), at=seen, changed=seen)


class SharedClock:
    """The clock of the file system at `place`, which may be another machine's."""

    def __init__(self, place: Path) -> None:
        self._place = place

    @cached_property
    def ahead(self) -> float:
        """By how many seconds it is ahead of ours; 0 if nothing can be written there."""
        try:
            with tempfile.TemporaryFile(dir=self._place) as probe:
                return os.fstat(probe.fileno()).st_ctime - time.time()
        except OSError:
            return 0.0


@contextmanager
def open_entry(folder: Path, owner: str = "") -> Iterator[int]:
    """Open a folder of the exchange; yields its descriptor.

    owner  the account that it must belong to; "" for any

    Raises StepFailed.
    """
    try:
        opened = os.open(folder, READ | os.O_DIRECTORY)
    except OSError as error:
        what = "it is a link or a file, not a folder" if folder.is_symlink() or folder.is_file() else error.strerror
        raise StepFailed(f"it cannot be opened: {what}") from None
    try:
        if owner and (found := _account(os.fstat(opened).st_uid)) != owner:
            raise StepFailed(
                f"it belongs to the account {found}. If you did not expect that, look at it and delete it; if your "
                "students share an account, set c.ExchangeCollect.check_owner = False in nbgrader_config.py"
            )
        yield opened
    finally:
        os.close(opened)


def _account(uid: int) -> str:
    import pwd  # not on Windows, where there is no exchange

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"number {uid}, which has no name"


def read_secret(folder: Path) -> str:
    """The secret of a submission; "" if there is none."""
    return _secret(folder / SECRET)


def _secret(path: str | Path, folder: int | None = None) -> str:
    try:
        opened = os.open(path, READ, dir_fd=folder)
    except OSError:
        return ""
    try:
        return os.read(opened, MOST_SECRET).decode(errors="replace")
    except OSError:  # a folder of this name
        return ""
    finally:
        os.close(opened)


@dataclass
class FolderCopy:
    """Copies the ordinary files of a submission, never what a link leads to.

    A file that cannot or may not be copied costs that file: `left_out` has the reason by path.

    owner    number of the account that must own each file; None for any
    changed  when the file system last saw a change to what was copied, in seconds since the epoch
    """

    rules: CopyRules
    owner: int | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    changed: float = 0.0
    _bytes: int = 0
    _files: int = 0

    def copy(self, folder: int, target: Path, place: str = "", depth: int = 0) -> None:
        """Copy what is in an open folder to a new folder. Raises OSError if `target` cannot be written."""
        target.mkdir()
        for name in self._names(folder, place):
            path = os.path.join(place, name)
            try:
                opened = os.open(name, READ, dir_fd=folder)
            except OSError as error:
                self.left_out[path] = NOT_FILES.get(error.errno or 0, f"it cannot be opened: {error.strerror}")
                continue
            try:
                about = os.fstat(opened)
                if self.owner not in (None, about.st_uid):
                    self.left_out[path] = "it belongs to another account"
                elif stat.S_ISDIR(about.st_mode) and depth < MOST_DEPTH:
                    self.copy(opened, target / name, path, depth + 1)
                elif not stat.S_ISREG(about.st_mode):
                    self.left_out[path] = "it is not an ordinary file"
                elif _matches(name, self.rules.include or ["*"]) and (
                    why := self._copy_file(opened, about.st_size, target / name)
                ):
                    self.left_out[path] = why
            except OSError as error:
                if error.filename is not None:  # ours
                    raise
                self.left_out[path] = f"it cannot be read: {error.strerror}"
            finally:
                os.close(opened)
        self.changed = max(self.changed, os.fstat(folder).st_ctime)
        target.chmod(self.rules.modes[1])

    def _names(self, folder: int, place: str) -> list[str]:
        """The names in a folder, notebooks first, as far as they are not over MOST_FILES in all."""
        room, number, first, then = MOST_FILES - self._files, 0, list[str](), list[str]()
        with os.scandir(folder) as entries:
            for name in (entry.name for entry in entries if not _matches(entry.name, [*self.rules.ignore, STAMP])):
                number += 1
                some = first if name == SECRET or name.endswith(".ipynb") else then
                if len(some) < room:
                    some.append(name)
        names = (sorted(first) + sorted(then))[:room]
        self._files += len(names)
        if number > len(names):
            self.left_out[f"{number - len(names):,} more"] = f"a submission may have {MOST_FILES:,} files and folders"
        return names

    def _copy_file(self, opened: int, size: int, target: Path) -> str:
        """Copy an open file that may be growing; returns why it is left out, or ""."""
        left = most = min(self.rules.most_of_file, self.rules.most_bytes - self._bytes)
        if size <= most:
            with target.open("wb") as copy:
                while chunk := os.read(opened, min(CHUNK, left + 1)):
                    left -= len(chunk)
                    if left < 0:
                        break
                    copy.write(chunk)
            self._bytes += most - max(left, 0)
            self.changed = max(self.changed, os.fstat(opened).st_ctime)
            if left >= 0:
                target.chmod(self.rules.modes[0])
                return ""
            target.unlink()
        whole = most < self.rules.most_of_file >= size
        limit = self.rules.most_bytes if whole else self.rules.most_of_file
        return f"{'all files together are' if whole else 'it is'} larger than {limit / 1e6:,.0f} MB"


def _matches(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
