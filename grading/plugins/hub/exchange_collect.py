"""The exchange's `collect`, by the same rules as `grading collect`.

nbgrader's own step deletes the folder in `submitted/` that it updates, believes what a student wrote there, and stops
at the first submission that it cannot copy. This one moves the folder to `hand-ins/replaced`, replaces a submission
from elsewhere only if the exchange's is clearly newer, and goes on with the other students after any error. A copy is
complete or absent, even if the command is killed.

Does not cover: which entries of the exchange are submissions, their times, and how files are copied
(`exchange_inbound`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default.collect import ExchangeCollect
from traitlets import Enum

from grading.errors import NotHandedIn, StepFailed
from grading.safe_text import one_line
from grading.submitted.choices import ASK, KEEP, REPLACE, ChoiceTable
from grading.submitted.evidence import Evidence, Origin, text_of, weigh
from grading.submitted.replaced import STAMP, list_replaced
from grading.submitted.submitted_dir import SubmittedFolder, copy_into_place, digest_of_path, submitted_folder, time_of

from .exchange_inbound import (
    AGREE,
    SECRET,
    CopyRules,
    FolderCopy,
    Inbound,
    SharedClock,
    believed,
    latest,
    list_inbound,
    open_entry,
    read_secret,
)

__all__ = ["SECRET", "Collect", "read_secret"]

CHANNEL = "exchange"
TIME = "%Y-%m-%d %H:%M:%S.%f UTC"  # in timestamp.txt, as nbgrader writes it
MOST_REPORTED = 20  # entries that are not submissions
UNDECIDED = (
    "in submitted/ is the file {}; in the exchange: {}. Nothing shows which is newer. Write keep or replace in the "
    "column choice of {}, then collect again"
)


@dataclass(frozen=True)
class _Copy:
    """A copy of a submission, beside its place in `submitted/`."""

    folder: Path
    left_out: dict[str, str]

    @property
    def digests(self) -> dict[str, str]:
        return {path.name: digest_of_path(path) for path in sorted(self.folder.glob("*.ipynb"))}


class Collect(ExchangeCollect):
    """nbgrader's step for one assignment, which never loses what is there."""

    undecided = Enum(
        (ASK, KEEP, REPLACE),
        ASK,
        help="What to do if it is not clear whether the exchange's file is newer than the one in submitted/.",
    ).tag(config=True)

    exactly: Inbound | None = None  # collect this submission and no other
    from_kept = False  # collect `exactly` as it was when it was replaced: students can change the exchange's

    def init_src(self) -> None:
        lesson = self.coursedir.assignment_id
        if not self.coursedir.course_id:
            self.fail("No course id specified. Re-run with --course flag.")
        self.inbound = Path(self.root) / self.coursedir.course_id / "inbound"
        if not os.access(self.inbound, os.R_OK | os.X_OK):
            self.fail(
                f"There is no folder {self.inbound} that you can read. Run `nbgrader release_assignment {lesson}`"
            )
        if self.exactly:
            self.chosen = [self.exactly]
            return
        listed = list_inbound(self.inbound, [lesson], check_owner=self.check_owner)
        wanted = self.coursedir.student_id or "*"
        of_student: dict[str, list[Inbound]] = {}
        for entry in listed.found:
            if not fnmatchcase(entry.student, wanted):
                continue
            if entry.unfinished:
                self._refuse(entry.folder, "it is being handed in now. Collect again")
            else:
                of_student.setdefault(entry.student, []).append(entry)
        refused = [(folder, why) for folder, why in listed.refused.items() if fnmatchcase(folder.name, f"{wanted}+*")]
        for folder, why in refused[:MOST_REPORTED]:
            self._refuse(folder, why)
        if len(refused) > MOST_REPORTED:
            self.log.error("%d more entries were not collected", len(refused) - MOST_REPORTED)
        due = self._due()
        self.chosen = [latest(entries, due) for entries in of_student.values()]

    def _due(self) -> Any:
        """The due date by which a submission is preferred; None unless `before_duedate` is set."""
        if not self.before_duedate:
            return None
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook, suppress(MissingEntry):
            due = gradebook.find_assignment(self.coursedir.assignment_id).duedate
            return due and due.replace(tzinfo=UTC)

    def kept_copy(self, submission: Inbound) -> Path | None:
        """The copy that was kept of a submission when a newer one replaced it."""
        kept = list_replaced(Path(self.coursedir.root), submission.student, submission.lesson)
        return next((copy.folder for copy in kept if read_secret(copy.folder) == submission.secret), None)

    def copy_files(self) -> None:
        self.log.info("Processing %d submissions of '%s'", len(self.chosen), self.coursedir.assignment_id)
        self._choices = ChoiceTable(Path(self.coursedir.root), self.undecided)
        try:
            for entry in self.chosen:
                try:
                    self._collect(entry)
                except Exception as error:  # one submission must not stop the others
                    if self.exactly:
                        raise
                    self._refuse(entry.folder, str(error) if isinstance(error, StepFailed) else repr(error))
        finally:
            self._choices.save()

    def _collect(self, entry: Inbound) -> None:
        """Collect a submission, unless the one in `submitted/` stays. Raises StepFailed, OSError."""
        folder, origin = submitted_folder(self.coursedir, entry.student, entry.lesson), _origin(entry)
        there = folder.origin() if folder.folder.is_dir() and not self.from_kept else None
        if not self.from_kept and self._is_there(folder, there, entry):
            self.log.info("%s: as before", one_line(entry.student))
            self._report(folder)
            return
        if there and self._is_newer(there, origin) and not (self.update or self.before_duedate):
            self.log.info("%s: there is a newer submission. Add --update to collect it", one_line(entry.student))
            return
        with self._copied(entry, folder.folder) as copy:
            if there and not self._may_replace(folder, there, copy, origin):
                return
            if folder.folder.is_dir():
                folder.set_aside(origin)
            os.rename(copy.folder, folder.folder)
            folder.record(origin, folder.digests(), copy.left_out)
            self.log.info("Collected: %s %s", one_line(entry.student), entry.lesson)
            self._report(folder)

    def _is_there(self, folder: SubmittedFolder, there: Origin | None, entry: Inbound) -> bool:
        """Whether `submitted/` has this submission, as it was collected."""
        if read_secret(folder.folder) != entry.secret:
            return False
        if there is None:  # no notebook could be collected
            return bool(folder.left_out)
        if there.channel != CHANNEL or there.when is None:
            return False
        return there.when.replace(microsecond=0) == entry.sent.replace(microsecond=0)

    def _is_newer(self, there: Origin, arriving: Origin) -> bool:
        in_time = self.before_duedate and there.channel == CHANNEL  # the teacher may have asked for an older one
        return weigh(there, arriving) is Evidence.NEWER or in_time

    def _may_replace(self, folder: SubmittedFolder, there: Origin, copy: _Copy, origin: Origin) -> bool:
        """Whether a submission replaces the one in `submitted/`, by the evidence or as the teacher chose."""
        student, evidence = one_line(folder.student), weigh(there, origin)
        if folder.digests() == copy.digests and (evidence is not Evidence.NEWER or there.when == origin.when):
            self.log.info("%s: as before", student)
            return False
        if self._is_newer(there, origin):
            self._choices.settle(folder.student, folder.lesson)
            return True
        if evidence is Evidence.OLDER:
            raise StepFailed(f"it is older than the submission in submitted/ ({one_line(str(there))})")
        digest = "".join(copy.digests.values())[:16]
        choice = self._choices.choose(folder.student, folder.lesson, digest, there, origin)
        if choice == ASK:
            raise StepFailed(UNDECIDED.format(one_line(str(there)), origin.time, self._choices.path))
        if choice == KEEP:
            self.log.info(
                "%s: the file in submitted/ stays, as %s says. Write replace there to collect the exchange's",
                *(student, self._choices.path),
            )
        return bool(choice == REPLACE)

    @contextmanager
    def _copied(self, entry: Inbound, place: Path) -> Iterator[_Copy]:
        """Copy a submission beside its place; what is not moved from there is removed in the end."""
        kept = self.kept_copy(entry) if self.from_kept else None
        if self.from_kept and not kept:
            raise StepFailed("not collected again: hand-ins/replaced has no copy of it")
        owner = entry.student if self.check_owner and not kept else ""
        beside = place.with_name(f".{place.name}.collecting")
        shutil.rmtree(beside, ignore_errors=True)  # left by a killed process
        beside.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open_entry(kept or entry.folder, owner) as opened:
                made = FolderCopy(self._rules(), os.fstat(opened).st_uid if owner else None)
                made.copy(opened, beside)
            if read_secret(beside) != entry.secret:  # by which it is known, and its attempts are counted
                raise StepFailed("it was changed while it was collected. Collect again")
            with suppress(NotHandedIn):  # grading reports it
                copy_into_place(beside, self.coursedir, entry.lesson)
            if kept:
                shutil.copyfile(kept / STAMP, beside / STAMP)
            else:
                at = believed(entry, made.changed, SharedClock(self.inbound.parent)).at
                (beside / STAMP).write_text(f"{at:{TIME}}")
            yield _Copy(beside, made.left_out)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            with suppress(OSError):
                beside.parent.rmdir()  # if nothing was collected of a new student

    def _rules(self) -> CopyRules:
        course = self.coursedir
        sizes = 1000 * course.max_dir_size, 1000 * course.max_file_size
        modes = (0o664, 0o2775) if course.groupshared else (0o644, 0o755)
        return CopyRules(*sizes, course.ignore, course.include, modes)

    def _report(self, folder: SubmittedFolder) -> None:
        """Report what of a submission was not collected or believed."""
        student, there, at = one_line(folder.student), folder.origin(), time_of(folder.stamp)
        for name, why in list(folder.left_out.items())[:MOST_REPORTED]:
            self.log.warning("%s: %s was left out: %s", student, one_line(name), why)
        if there and there.when and at and abs(at - there.when) > AGREE:
            self.log.warning(
                "%s counts as handed in at %s, when the exchange's files last changed, not at %s as their name says. "
                "If you changed them yourself, correct timestamp.txt in submitted/, then grade again",
                *(student, text_of(at), text_of(there.when)),
            )

    def _refuse(self, entry: Path, why: str) -> None:
        self.log.error("%s was not collected: %s", one_line(entry.name), one_line(why))


def _origin(entry: Inbound) -> Origin:
    return Origin(CHANNEL, "the exchange", entry.sent)
