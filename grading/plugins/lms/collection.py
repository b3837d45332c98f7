"""Collect submissions into `submitted/`: find owners and the files that count.

`grading collect` and `nbgrader zip_collect` both use this. They differ in where the downloads are, and in how they
write the files that count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from grading.course_dir.student_ids import why_unfit
from grading.errors import AmbiguousOwner, ArchiveError
from grading.submitted.choices import ASK, KEEP, ChoiceTable
from grading.submitted.evidence import Evidence, Origin, text_of, weigh
from grading.submitted.file_names import printable
from grading.submitted.submitted_dir import SubmittedFolder, time_of

from .downloads import DownloadIndex, first_few
from .identities import SEVERAL, IdentityTable
from .platforms import LASTING, Submitter
from .roster import Match, Roster
from .selection import Candidate, Selection, Submission

TAKEN, REPAIRED, REPLACED, SAME = "taken", "repaired", "replaced", "as before"
SKIPPED, ASKED, UNDECIDED, LEFT, KEPT = "skipped", "whose?", "which counts?", "left out", "kept as it was"
NOTHING = "it is empty, except for checkpoints and installed or hidden files"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a submission. `owner`: its name in the download; `student`: the id, "" if unknown."""

    what: str
    owner: str
    student: str = ""
    when: str = ""
    why: str = ""
    lesson: str = ""

    @property
    def failed(self) -> bool:
        return self.what in (SKIPPED, ASKED, UNDECIDED)


@dataclass(frozen=True)
class Lesson:
    """The lesson to collect.

    notebooks   their names
    due         the due date
    folder      returns a student's folder in `submitted/`
    handed_out  digests of the notebooks that students get
    """

    name: str
    notebooks: list[str]
    due: datetime | None
    folder: Callable[[str], SubmittedFolder]
    handed_out: frozenset[str] = frozenset()


class Collecting:
    """One collection of one lesson.

    Open questions go to `identities` and `choices`, which the caller saves.
    """

    def __init__(self, lesson: Lesson, people: Roster, identities: IdentityTable, choices: ChoiceTable) -> None:
        self._lesson, self._roster, self._identities, self._choices = lesson, people, identities, choices

    def outcomes(self, listing: DownloadIndex) -> Iterator[Outcome]:
        """Collect all listed submissions, one by one."""
        return (replace(outcome, lesson=self._lesson.name) for outcome in self._outcomes(listing))

    def _outcomes(self, listing: DownloadIndex) -> Iterator[Outcome]:
        submissions = [_identify_by_content(submission) for submission in listing.submissions]
        matches = self._roster.whose(submission.owner for submission in submissions)
        of_student: dict[str, list[Submission]] = {}
        for submission in submissions:
            match = matches[submission.owner]
            if match.left_out:
                yield Outcome(LEFT, str(submission), why=f"as {self._identities.path.name} says")
            elif not match.students:
                yield Outcome(ASKED, str(submission), why=match.why)
            for student in match.students * (not match.left_out):
                of_student.setdefault(student, []).append(submission.copy())
        for student, several in of_student.items():
            sure = [other for other in several if matches[other.owner].sure] or several
            for submission in several:
                if submission not in sure:
                    yield self._ask(
                        submission,
                        f"it has the name of {printable(student)}, but {sure[0]} has that student's exact id",
                    )
            owners = list(dict.fromkeys(other.owner for other in sure))
            if len(owners) > 1 and not _is_one_person(owners, matches):
                yield from self._ask_about_several(student, sure)
                continue
            for owner in owners:
                self._roster.remember(owner, matches[owner])
            yield self._collect(student, sure, matches[owners[0]])

    def _ask_about_several(self, student: str, several: list[Submission]) -> Iterator[Outcome]:
        for submission in several:
            other = next(candidate for candidate in several if candidate is not submission)
            yield self._ask(submission, f"it would belong to {printable(student)}, and so would {other}")

    def _ask(self, submission: Submission, why: str) -> Outcome:
        self._identities.ask(submission.owner, why)
        return Outcome(ASKED, str(submission), why=why)

    def _collect(self, student: str, several: list[Submission], match: Match) -> Outcome:
        """Write the files of one student that count, unless they are there already."""
        submission = several[0]
        for other in several[1:]:
            submission.join(other)
        try:
            if refused := submission.refused or why_unfit(student):
                raise ArchiveError(refused)
            is_known = match.sure or self._roster.knows(student)
            lesson = self._lesson
            with closing(Selection(submission, lesson.notebooks, is_known, lesson.handed_out)) as chosen:
                if not chosen.contents:
                    found = first_few(chosen.passed_over) or NOTHING
                    raise ArchiveError(first_few(chosen.trouble) or f"it has no notebook of this lesson: {found}")
                return self._put(student, submission, chosen)
        except AmbiguousOwner as why:
            return self._ask(
                submission,
                f"{why}. Write the student's id if it is one person's, or {SEVERAL} if it is several people's",
            )
        except (ArchiveError, OSError) as why:
            return Outcome(SKIPPED, str(submission), student, why=str(why))
        except Exception as error:  # one submission must not stop the others
            return Outcome(SKIPPED, str(submission), student, why=f"{type(error).__name__}: {printable(str(error))}")

    def _put(self, student: str, submission: Submission, chosen: Selection) -> Outcome:
        """Write the files that count, unless the files in submitted/ should stay."""
        folder, counting = self._lesson.folder(student), list(chosen.best.values())
        stamp, there, same = folder.stamp, folder.origin(chosen.contents), folder.holds(chosen.contents)
        handed_in = max((candidate.top.when for candidate in counting if candidate.top.when), default=None)
        order = max(candidate.top.order for candidate in counting)
        new = Origin(submission.owner.channel, str(submission), handed_in, order)
        shown = text_of(handed_in) if handed_in else ""
        if there and not same:
            refused = self._weigh(student, chosen, there, new)
            if refused:
                return Outcome(refused[0], str(submission), student, shown, refused[1])
        if same:
            self._choices.settle(student, self._lesson.name, chosen.digest)
        when = handed_in or self._late(counting, time_of(stamp))
        time = stamp if stamp and (same or when is None) else text_of(when) if when else ""
        if not same or time != stamp:
            folder.write(chosen.contents, time, new)
        repaired = any(candidate.rank.form for candidate in counting)
        what = SAME if same else REPLACED if there else REPAIRED if repaired else TAKEN
        return Outcome(what, str(submission), student, time, "; ".join(_notes(submission, chosen)))

    def _weigh(self, student: str, chosen: Selection, there: Origin, new: Origin) -> tuple[str, str] | None:
        """The outcome for a file that may not replace the one in submitted/, and why; None if it may."""
        evidence = weigh(there, new)
        if evidence is Evidence.OLDER:
            return SKIPPED, f"it is older than the submission in submitted/ ({there})"
        if evidence is Evidence.NEWER:
            self._choices.settle(student, self._lesson.name)
            return None
        choice = self._choices.choose(student, self._lesson.name, chosen.digest, there, new)
        if choice == KEEP:
            return KEPT, f"as {self._choices.path.name} says: {there}"
        if choice == ASK:
            return UNDECIDED, f"in submitted/: {there}; in the download: {new.time}; {Evidence.NONE.value}"
        return None

    def _late(self, counting: list[Candidate], there: datetime | None) -> datetime | None:
        """A time for work that is only marked late: just after the due date.

        None if the file in submitted/ has a later time.
        """
        due = self._lesson.due
        if due is None or not any(candidate.top.late for candidate in counting):
            return None
        return None if there and there > due else due + timedelta(seconds=1)


def nobodys_outcomes(listing: DownloadIndex) -> Iterator[Outcome]:
    """Outcomes for files without an owner, and for downloads that cannot be read."""
    for download, names in listing.nobodys.items():
        where = f"in {download}: " if download else ""
        yield Outcome(LEFT, first_few(names), why=f"{where}no student matches its name, and it is not a notebook")
    for download, why in listing.unread:
        yield Outcome(SKIPPED, download, why=f"the download cannot be read: {why}")


def _identify_by_content(submission: Submission) -> Submission:
    """Identify a file of unknown owner by its digest.

    A teacher's answer then applies only to this file.
    """
    if submission.owner.platform != "file":
        return submission
    return replace(submission, owner=replace(submission.owner, number=submission.digest()))


def _is_one_person(owners: list[Submitter], matches: dict[Submitter, Match]) -> bool:
    """Whether owners that match one student are one person.

    They are if all match by an exact id or an answer, and no two have numbers of the same platform.
    """
    lasting = [owner.platform for owner in owners if owner.platform in LASTING]
    return all(matches[owner].sure for owner in owners) and len(set(lasting)) == len(lasting)


def _notes(submission: Submission, chosen: Selection) -> list[str]:
    notes = []
    for candidate in chosen.best.values():
        if candidate.rank.form:
            notes.append(f"it was a file of type {candidate.rank.ending}")
        if candidate.top.late:
            notes.append("late" if candidate.top.when else "late; the download does not show by how much")
    if chosen.older:
        notes.append(f"older or a copy: {first_few(chosen.older)}")
    if chosen.trouble:
        notes.append(f"with problems: {first_few(chosen.trouble)}")
    if chosen.passed_over:
        notes.append(f"ignored: {first_few(chosen.passed_over)}")
    if submission.installed:
        notes.append(f"not searched: {', '.join(submission.installed)}")
    return notes
