"""Select the files of one person's submission that count."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import IO

from course.which_counts import Rank, are_rivals, is_nameless_script, rank
from grading.errors import AmbiguousOwner, ArchiveError, OverBudget
from grading.submitted.archives import FOLDER, Budget, Entry, Names, archive_kind, copy, installed, unpacked
from grading.submitted.file_names import printable, without_copies

from .platforms import ParsedName, Submitter, by_platform

SEVERAL_PEOPLE = "{} seems to hold what several people handed in ({})"
ALIKE = "it is not clear which file counts: {} and {}"
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(eq=False)
class Submission:
    """One person's submission.

    entries  their paths start with an outermost name
    tops     the parsed outermost names
    refused  why nothing in it is collected
    """

    owner: Submitter
    download: str  # its zip or folder; "" for nbgrader's archive folder itself
    budget: Budget
    entries: list[Entry] = field(default_factory=list)
    tops: dict[str, ParsedName] = field(default_factory=dict)
    installed: dict[str, None] = field(default_factory=dict)  # folders of installed programs
    alone: bool = False  # the only one in its download
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.owner} in {self.download}" if self.download else str(self.owner)

    def add(self, entry: Entry, top: ParsedName) -> None:
        """Add an entry, if the budget allows it."""
        if within := installed(entry.path):
            self.installed[within] = None
            return
        try:
            self.budget.pay(files=1)
            self.entries.append(entry)
            self.tops[entry.path[0]] = top
        except OverBudget as why:
            self.refused = str(why)

    def copy(self) -> Submission:
        """Copy the submission, with a budget of its own."""
        return replace(
            self,
            budget=replace(self.budget),
            entries=list(self.entries),
            tops=dict(self.tops),
            installed=dict(self.installed),
        )

    def join(self, other: Submission) -> None:
        """Add another submission of the same person."""
        for entry in other.entries:
            self.add(entry, other.tops[entry.path[0]])
        self.installed |= other.installed
        self.refused = self.refused or other.refused

    def digest(self) -> str:
        """A short digest of the file's contents; "" if it cannot be read."""
        with tempfile.TemporaryFile() as content:
            try:
                copy(self.entries[0], content, replace(self.budget))
            except ArchiveError:
                return ""
            return digest_of(content)[:12]


def digest_of(content: IO[bytes]) -> str:
    content.seek(0)
    return hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]  # it is a binary file


@dataclass(order=True)
class Candidate:
    """A file that could count as a notebook; the greatest does: of the last attempt, the one with the highest rank."""

    when: datetime
    rank: Rank
    path: Names = field(compare=False)
    top: ParsedName = field(compare=False)

    def is_of_one_attempt(self, other: Candidate) -> bool:
        return (self.when, self.rank.order) == (other.when, other.rank.order)

    def rivals(self, other: Candidate) -> bool:
        """Whether it is unclear which of the two counts."""
        same_time = self is not other and self.when == other.when
        return same_time and are_rivals(self.path, self.rank, other.path, other.rank)


class Selection:
    """The files of a submission that count, in temporary files until `close`.

    contents, best: the files and their candidates, by notebook.
    trouble: unreadable files, each with path and reason; the others still count.
    passed_over: names of files that are not notebooks of this lesson. older: those that do not count.
    """

    def __init__(
        self,
        submission: Submission,
        notebooks: list[str],
        is_one_persons: bool = True,
        handed_out: Collection[str] = (),
    ) -> None:
        """Read the submission.

        handed_out: digests of the lesson's own notebooks; of one attempt, such a file counts only if there is no other.

        Raises ArchiveError if nothing may be collected from it. Raises AmbiguousOwner if a plain folder may belong to
        several people, unless `is_one_persons`.
        """
        self.contents: dict[str, IO[bytes]] = {}
        self.best: dict[str, Candidate] = {}
        self.trouble: list[str] = []
        self.passed_over: list[str] = []
        self.older: list[str] = []
        self._submission, self._notebooks, self._handed_out = submission, notebooks, handed_out
        self._plain = submission.owner.platform == "folder" and not is_one_persons
        self._others: list[tuple[str, Candidate, str]] = []
        self._digests: dict[str, str] = {}
        self._scripts: set[Names] = set()  # Python files whose names contain no notebook's name
        try:
            self._consider_all()
            if not self.best and len(self._scripts) == 1:  # its name does not matter, since it must contain the answers
                self.passed_over, self.trouble = [], []
                self._consider_all()
            self._settle()
        except ArchiveError:
            self.close()
            raise

    def close(self) -> None:
        for content in self.contents.values():
            content.close()

    @property
    def digest(self) -> str:
        """A digest of the files that count.

        A teacher's choice applies only to files with this digest.
        """
        return hashlib.sha256(repr(sorted(self._digests.items())).encode()).hexdigest()[:16]

    def _report(self, path: Names, why: str) -> None:
        self.trouble.append(f"{_to_text(path)}: {why}")

    def _consider_all(self) -> None:
        known = frozenset(self._scripts)
        for entry in unpacked(self._submission.entries, self._submission.budget, self._report):
            self._consider(entry, known)

    def _consider(self, entry: Entry, scripts: frozenset[Names]) -> None:
        if entry.unfit == FOLDER:
            return
        candidacy = self._candidate(entry.path)
        if candidacy and is_nameless_script(candidacy[1].rank) and entry.path not in scripts:
            self._scripts.add(entry.path)
            candidacy = None
        if entry.unfit:
            self._report(entry.path, entry.unfit)
            return
        if candidacy is None:
            self.passed_over.append(_to_text(entry.path))
            return
        notebook, candidate = candidacy
        best = self.best.get(notebook)
        again = best is not None and best.is_of_one_attempt(candidate)
        untouched = again and self._digests[notebook] in self._handed_out
        worse = best is not None and candidate <= best and not untouched
        if worse and best is not None and not best.rivals(candidate):
            self._others.append((notebook, candidate, ""))
            return
        content = tempfile.TemporaryFile()  # noqa: SIM115 - open until `close`
        try:
            copy(entry, content, self._submission.budget)
        except ArchiveError as why:
            content.close()
            if isinstance(why, OverBudget):
                raise
            self._report(entry.path, str(why))
            return
        digest = digest_of(content)
        if worse or (again and digest in self._handed_out):
            self._others.append((notebook, candidate, digest))
            content.close()
            return
        if best is not None:
            self._others.append((notebook, best, self._digests[notebook]))
            self.contents[notebook].close()
        self.best[notebook], self.contents[notebook], self._digests[notebook] = candidate, content, digest

    def _candidate(self, path: Names) -> tuple[str, Candidate] | None:
        """The notebook that a file could count as.

        Raises AmbiguousOwner if a plain folder may belong to several people.
        """
        top = self._submission.tops[path[0]]
        found = rank(path, self._notebooks, "" if len(path) > 1 else top.own, top.order)
        if found is None:
            return None
        if self._plain and (given := next(filter(by_platform, path[1:]), None)):
            raise AmbiguousOwner(SEVERAL_PEOPLE.format(printable(path[0]), printable(given)))
        return found[0], Candidate(top.when or NEVER, found[1], path, top)

    def _settle(self) -> None:
        for notebook, other, digest in self._others:
            best = self.best[notebook]
            if best.rivals(other) and digest not in (self._digests[notebook], *self._handed_out):
                raise self._ambiguity(best, other)
            self.older.append(_to_text(other.path))
        for notebook in self.best:
            if self._plain:
                self._check_one_person(notebook)

    def _check_one_person(self, notebook: str) -> None:
        """Raise AmbiguousOwner if subfolders or file names may belong to several people."""
        best = self.best[notebook]
        others = (other for which, other, _ in self._others if which == notebook)
        alike = [other for other in others if other.rank.by_name == best.rank.by_name]
        folders = dict.fromkeys(filter(None, (_folder(candidate.path) for candidate in [best, *alike])))
        names = {
            candidate.path[-1]: without_copies(candidate.path[-1])
            for candidate in [best, *alike]
            if candidate.path[:-1] == best.path[:-1]
        }
        if _folder(best.path) and (len(folders) > 1 or self._submission.alone):
            raise AmbiguousOwner(SEVERAL_PEOPLE.format(printable(best.path[0]), printable(", ".join(folders))))
        if best.rank.by_name and len(set(names.values())) > 1:
            raise AmbiguousOwner(SEVERAL_PEOPLE.format(printable(best.path[0]), printable(", ".join(names))))

    def _ambiguity(self, best: Candidate, other: Candidate) -> ArchiveError:
        why = ALIKE.format(_to_text(best.path), _to_text(other.path))
        return AmbiguousOwner(why) if self._plain else ArchiveError(why)


def _folder(path: Names) -> str:
    """The folder of a file directly below the outermost name, or ""."""
    return path[1] if len(path) > 2 and not archive_kind(path[1]) else ""


def _to_text(path: Names) -> str:
    return printable("/".join(path))
