"""The exchange's `collect`, by the same rules as `grading collect`.

nbgrader's own deletes the folder in `submitted/` that it updates. Here the folder is kept in `hand-ins/replaced`, and
what did not come through the exchange is replaced only if the exchange's is evidently newer. An id that nbgrader cannot
take is refused now, and not only when it is graded.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default.collect import ExchangeCollect
from traitlets import Enum

from grading.course_dir.student_ids import why_unfit
from grading.safe_console import SafeConsole
from grading.safe_text import one_line

from ..lms.choices import ASK, KEEP, REPLACE, ChoiceTable
from ..lms.collection import KEPT, SAME, SKIPPED, UNDECIDED, Outcome
from ..lms.evidence import Evidence, Origin, text_of, weigh
from ..lms.outcome_table import show
from ..lms.submitted_dir import SubmittedFolder, digest_of_path
from .zip_collect import submitted_folder

CHANNEL = "exchange"


@dataclass(frozen=True)
class _Inbound:
    """A submission in the exchange: nbgrader's record of it, its folder and its origin."""

    record: dict[str, Any]
    path: Path
    student: str
    origin: Origin

    @property
    def digests(self) -> dict[str, str]:
        return {path.name: digest_of_path(path) for path in sorted(self.path.glob("*.ipynb"))}


class Collect(ExchangeCollect):
    """nbgrader's step for one assignment, which never loses what is there."""

    undecided = Enum(
        (ASK, KEEP, REPLACE), ASK, help="What to do where nothing shows that the exchange's is newer than submitted/."
    ).tag(config=True)

    def copy_files(self) -> None:
        root, lesson = Path(self.coursedir.root), self.coursedir.assignment_id
        self._choices = ChoiceTable(root, self.undecided)
        inbound = list(map(self._inbound, self.src_records))
        self.outcomes: list[Outcome] = []
        taken = [one for one in inbound if self._may_copy(one, lesson)]
        self.src_records = [one.record for one in taken]
        with ExitStack() as finally_:
            for one in taken:
                finally_.callback(self._record, one, lesson)
            super().copy_files()
        self._choices.save()
        if any(outcome.what != SAME for outcome in self.outcomes):
            show(self.outcomes, SafeConsole(), "student-ids.csv", str(self._choices.path.relative_to(root)))

    def _inbound(self, record: dict[str, Any]) -> _Inbound:
        when: datetime = record["timestamp"].replace(tzinfo=UTC)
        path = Path(self.inbound_path) / record["filename"]
        return _Inbound(record, path, record["username"], Origin(CHANNEL, "the exchange", when))

    def _may_copy(self, one: _Inbound, lesson: str) -> bool:
        """Whether nbgrader may go on with a submission; what it would delete is then kept elsewhere."""
        if why := why_unfit(one.student):
            self._pass_over(one, SKIPPED, why)
            return False
        folder = submitted_folder(self.coursedir, one.student, lesson)
        if not folder.folder.is_dir():
            return True
        there = folder.origin()
        if there is not None and (refused := self._weigh(folder, there, one)):
            self._pass_over(one, *refused)
            return False
        if there is None or self.update or self.before_duedate:
            folder.set_aside(one.origin)
        return True

    def _weigh(self, folder: SubmittedFolder, there: Origin, one: _Inbound) -> tuple[str, str] | None:
        """What becomes of a submission that is not to replace the one in submitted/, and why; None if it may."""
        same, evidence = folder.digests() == one.digests, weigh(there, one.origin)
        if same and there.when == one.origin.when:
            return SAME, ""
        if evidence is Evidence.OLDER and there.channel == CHANNEL and self.before_duedate:
            return None  # the last one in time is what was asked for
        if evidence is Evidence.NEWER:
            return None
        if same:
            return SAME, ""
        if evidence is Evidence.OLDER:
            return SKIPPED, f"it is older than what is in submitted/ ({there})"
        digest = "".join(one.digests.values())[:16]
        choice = self._choices.choose(one.student, folder.lesson, digest, there, one.origin)
        if choice == KEEP:
            return KEPT, f"as you chose: {there}"
        if choice == REPLACE:
            folder.set_aside(one.origin)
            return None
        return UNDECIDED, f"in submitted/: {there}; in the exchange: {one.origin.time}; {Evidence.NONE.value}"

    def _pass_over(self, one: _Inbound, what: str, why: str) -> None:
        when = text_of(one.origin.when) if one.origin.when else ""
        lesson = self.coursedir.assignment_id
        self.outcomes.append(Outcome(what, f"{one_line(one.student)} by the exchange", one.student, when, why, lesson))
        if what not in (SAME, KEPT):
            self.log.error("%s was not collected: %s", one_line(one.student), why)

    def _record(self, one: _Inbound, lesson: str) -> None:
        """Record the origin of what nbgrader has copied."""
        folder = submitted_folder(self.coursedir, one.student, lesson)
        if folder.digests() == one.digests and folder.stamp and one.digests:
            folder.record(one.origin)
