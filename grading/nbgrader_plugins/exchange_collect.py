"""The exchange's `collect`, by the same rules as `grading collect`.

nbgrader's own step deletes the folder in `submitted/` that it updates. This one moves the folder to
`hand-ins/replaced`, and replaces a submission from elsewhere only if the exchange's is clearly newer. It also refuses
an id that nbgrader cannot take, instead of leaving that to autograding.

A student may write to the exchange by other means than nbgrader. So only ordinary files are copied, never what a link
leads to, and a submission that is still being written is left for the next time. A copy is complete or absent, even if
the command is killed.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.utils import ignore_patterns
from traitlets import Enum

from grading.course_dir.student_ids import why_unfit
from grading.errors import NotHandedIn
from grading.safe_text import one_line

from ..lms.choices import ASK, KEEP, REPLACE, ChoiceTable
from ..lms.evidence import Evidence, Origin, weigh
from ..lms.replaced import list_replaced
from ..lms.submitted_dir import SubmittedFolder, choose_file, copy_into_place, digest_of_path, time_of
from .zip_collect import submitted_folder

CHANNEL = "exchange"
SECRET = "submission_secret.txt"  # the last file that nbgrader writes when a student submits
SOON = 60.0  # seconds after which a submission without it counts as handed in by another program
MOST_SECRET = 1000  # bytes; nbgrader's has 128
UNDECIDED = (
    "%s was not collected: in submitted/ is the file %s; in the exchange: %s. Nothing shows "
    "which is newer. Write keep or replace in the column choice of %s, then collect again."
)


@dataclass(frozen=True)
class _Inbound:
    """A submission in the exchange: nbgrader's record of it, its folder and its origin."""

    record: dict[str, Any]
    path: Path
    student: str
    origin: Origin
    course: CourseDirectory

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each notebook as it will be in submitted/."""
        found = {path.name: digest_of_path(path) for path in sorted(self.path.glob("*.ipynb"))}
        lesson = self.course.assignment_id
        with suppress(NotHandedIn):
            if (chosen := choose_file(self.path, self.course, lesson)).exists():
                found[f"{lesson}.ipynb"] = digest_of_path(chosen)
        return found


class Collect(ExchangeCollect):
    """nbgrader's step for one assignment, which never loses what is there."""

    undecided = Enum(
        (ASK, KEEP, REPLACE),
        ASK,
        help="What to do if it is not clear whether the exchange's file is newer than the one in submitted/.",
    ).tag(config=True)

    src_records: list[dict[str, Any]]
    exactly: Path | None = None  # a submission that was collected before, to be collected though there is a newer one

    def init_src(self) -> None:
        super().init_src()
        if self.exactly:
            self.src_records = [self._path_to_record(str(self.exactly))]

    def kept_copy(self, submission: Path, student: str) -> Path | None:
        """The copy that was kept of a submission when a newer one replaced it: students can change the exchange's."""
        secret = read_secret(submission)
        kept = list_replaced(Path(self.coursedir.root), student, self.coursedir.assignment_id)
        return next((copy.folder for copy in kept if secret and read_secret(copy.folder) == secret), None)

    def copy_files(self) -> None:
        self._choices = ChoiceTable(Path(self.coursedir.root), self.undecided)
        every = list(map(self._inbound, self.src_records))
        taken = [inbound for inbound in every if self._may_copy(inbound)]
        self._choices.save()
        self.src_records = [inbound.record for inbound in taken]
        try:
            if taken or not every:
                super().copy_files()
        finally:
            for inbound in taken:
                self._record(inbound)

    def _inbound(self, record: dict[str, Any]) -> _Inbound:
        when: datetime = record["timestamp"].replace(tzinfo=UTC)
        path = Path(self.inbound_path) / record["filename"]
        return _Inbound(record, path, record["username"], Origin(CHANNEL, "the exchange", when), self.coursedir)

    def _may_copy(self, inbound: _Inbound) -> bool:
        """Whether nbgrader may go on with a submission; first saves what that would delete."""
        if why := why_unfit(inbound.student):
            self.log.error("%s was not collected: %s", one_line(inbound.student), why)
            return False
        if inbound.path.is_symlink():
            self.log.error("%s was not collected: the submission is a link", one_line(inbound.student))
            return False
        if not read_secret(inbound.path) and time.time() - inbound.path.lstat().st_mtime < SOON:
            self.log.error("%s was not collected: it is being handed in now. Collect again", one_line(inbound.student))
            return False
        folder = self._folder(inbound)
        if not folder.folder.is_dir():
            return True
        there = folder.origin()
        if there is None or self.exactly:
            folder.set_aside(inbound.origin)
            return True
        same, evidence = folder.digests() == inbound.digests, weigh(there, inbound.origin)
        in_time = self.before_duedate and there.channel == CHANNEL  # the teacher may have asked for an older one
        if same and (evidence is not Evidence.NEWER or there.when == inbound.origin.when):
            self.log.info("%s: as before", one_line(inbound.student))
            return False
        if evidence is Evidence.NEWER or in_time:
            self._choices.settle(inbound.student, folder.lesson)
            if self.update or self.before_duedate:
                folder.set_aside(inbound.origin)
            return True  # without --update, nbgrader explains how to update
        return self._decide(folder, there, inbound, evidence)

    def _decide(self, folder: SubmittedFolder, there: Origin, inbound: _Inbound, evidence: Evidence) -> bool:
        """Whether to copy a submission that is not clearly newer, as the teacher chose."""
        if evidence is Evidence.OLDER:
            why = f"it is older than the submission in submitted/ ({one_line(str(there))})"
            self.log.error("%s was not collected: %s", one_line(inbound.student), why)
            return False
        digest = "".join(inbound.digests.values())[:16]
        choice = self._choices.choose(inbound.student, folder.lesson, digest, there, inbound.origin)
        if choice == REPLACE:
            folder.set_aside(inbound.origin)
            return True
        if choice == ASK:
            names = one_line(inbound.student), one_line(str(there)), inbound.origin.time, self._choices.path
            self.log.error(UNDECIDED, *names)
        return False

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a submission's ordinary files beside `dest`, then rename. Raises OSError, and RuntimeError if too large.

        Here `dest` does not exist: nbgrader has deleted it.
        """
        if self.exactly:
            src = str(self.kept_copy(self.exactly, self.src_records[0]["username"]))
        if self.get_size(src) > 1000 * self.coursedir.max_dir_size:
            raise RuntimeError(f"{src} is larger than {1000 * self.coursedir.max_dir_size} bytes")
        limits = {"include": self.coursedir.include, "max_file_size": self.coursedir.max_file_size, "log": self.log}
        target = Path(dest)
        beside = target.with_name(f".{target.name}.collecting")
        shutil.rmtree(beside, ignore_errors=True)  # left by a killed process
        _copy_ordinary_files(
            Path(src),
            beside,
            ignore_patterns(exclude=self.coursedir.ignore, **limits),
            (0o664, 0o2775) if self.coursedir.groupshared else (0o644, 0o755),
        )
        with suppress(NotHandedIn):  # grading reports it
            copy_into_place(beside, self.coursedir, self.coursedir.assignment_id)
        os.rename(beside, target)

    def _record(self, inbound: _Inbound) -> None:
        """Record the origin of what nbgrader has copied."""
        folder = self._folder(inbound)
        if folder.digests() == inbound.digests and time_of(folder.stamp) == inbound.origin.when:
            folder.record(inbound.origin, inbound.digests)

    def _folder(self, inbound: _Inbound) -> SubmittedFolder:
        return submitted_folder(self.coursedir, inbound.student, self.coursedir.assignment_id)


def read_secret(inbound: Path) -> str:
    """The secret of a submission in the exchange; "" if it is not complete."""
    try:
        descriptor = os.open(inbound / SECRET, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            return file.read(MOST_SECRET).decode(errors="replace")
    except OSError:
        return ""


def _copy_ordinary_files(
    source: Path, target: Path, ignored: Callable[[str, list[str]], Any], modes: tuple[int, int]
) -> None:
    """Copy a student's folder, without links, pipes and devices. modes: of files and of folders.

    Looks up names below the descriptor of each folder, so that what a student puts there at the same time is not
    followed either. Raises OSError.
    """
    for place, folders, files, here in os.fwalk(source, follow_symlinks=False):
        leave_out = ignored(place, [*folders, *files])
        folders[:] = [name for name in folders if name not in leave_out]
        into = target / os.path.relpath(place, source)
        into.mkdir()
        for name in files:
            if name not in leave_out:
                _copy_ordinary_file(name, here, into / name, modes[0])
        into.chmod(modes[1])


def _copy_ordinary_file(name: str, folder: int, target: Path, mode: int) -> None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            return
        raise
    with open(descriptor, "rb") as file:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            with target.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            target.chmod(mode)
