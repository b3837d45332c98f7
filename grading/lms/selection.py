"""What one person handed in, and which of its files counts."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import IO

from ..errors import AmbiguousOwner, ArchiveError, OverBudget
from .archives import FOLDER, Budget, Entry, Names, archive_kind, copy, installed, unpacked
from .file_names import printable, which_notebook, without_copies
from .platforms import NOTEBOOKS, ParsedName, Submitter, by_platform

SEVERAL_PEOPLE = "{} seems to hold what several people handed in ({})"
ALIKE = "nothing tells which file counts: {} and {}"
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(eq=False)
class Submission:
    """`entries` have paths that begin with the outermost name, of which `tops` has what it tells; `refused` says why
    nothing of it is collected."""

    owner: Submitter
    download: str  # the zip or folder that it was in; "" for nbgrader's archive folder itself
    budget: Budget
    entries: list[Entry] = field(default_factory=list)
    tops: dict[str, ParsedName] = field(default_factory=dict)
    installed: dict[str, None] = field(default_factory=dict)  # folders of other people's programs
    alone: bool = False  # nothing else was in that download
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.owner} in {self.download}" if self.download else str(self.owner)

    def add(self, entry: Entry, top: ParsedName) -> None:
        """List what was handed in, as far as the budget goes."""
        if within := installed(entry.path):
            self.installed[within] = None
            return
        try:
            self.budget.pay(files=1)
            self.entries.append(entry)
            self.tops[entry.path[0]] = top
        except OverBudget as why:
            self.refused = str(why)

    def join(self, other: Submission) -> None:
        """Take in what the same person handed in elsewhere."""
        for entry in other.entries:
            self.add(entry, other.tops[entry.path[0]])
        self.installed |= other.installed
        self.refused = self.refused or other.refused

    def digest(self) -> str:
        """What a file's bytes are told by; "" where it cannot be read."""
        with tempfile.TemporaryFile() as content:
            try:
                copy(self.entries[0], content, replace(self.budget))
            except ArchiveError:
                return ""
            return digest_of(content)[:12]


def digest_of(content: IO[bytes]) -> str:
    content.seek(0)
    return hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]  # a file of bytes it is


@dataclass(order=True)
class Candidate:
    """A file that could count as a notebook. The greatest does: of the last attempt; named so before any other; a
    notebook before a Python file; then the latest in Canvas's order, then the nearest to the top."""

    when: datetime
    by_name: bool
    form: int
    order: int
    height: int
    copies: int
    version: int
    path: Names = field(compare=False)
    top: ParsedName = field(compare=False)

    def rivals(self, other: Candidate) -> bool:
        """Whether nothing tells which counts: both lie equally deep, in two folders or under names of one rank."""
        mine, theirs = ((one.when, one.by_name, one.form, one.order, one.height) for one in (self, other))
        return self is not other and mine == theirs and (self.path[:-1] != other.path[:-1] or self == other)


class Selection:
    """The files of a submission that count, in temporary files until `close`.

    contents: by notebook. best: what is known of each.
    trouble: what could not be read, in words, each with its path; the rest counts all the same.
    passed_over: names of files that are no notebook of this lesson. older: those that do not count.
    """

    def __init__(self, submission: Submission, notebooks: list[str], is_one_persons: bool = True) -> None:
        """Read the submission.

        Raises ArchiveError if nothing of it may be collected, AmbiguousOwner if a plain folder may be several people's
        and the table does not say that it `is_one_persons`.
        """
        self.contents: dict[str, IO[bytes]] = {}
        self.best: dict[str, Candidate] = {}
        self.trouble: list[str] = []
        self.passed_over: list[str] = []
        self.older: list[str] = []
        self._submission, self._notebooks = submission, notebooks
        self._plain = submission.owner.platform == "folder" and not is_one_persons
        self._others: list[tuple[str, Candidate, str]] = []
        self._digests: dict[str, str] = {}
        try:
            for entry in unpacked(submission.entries, submission.budget, self._tell):
                self._look_at(entry)
            self._settle()
        except ArchiveError:
            self.close()
            raise

    def close(self) -> None:
        for content in self.contents.values():
            content.close()

    def _tell(self, path: Names, why: str) -> None:
        self.trouble.append(f"{_shown(path)}: {why}")

    def _look_at(self, entry: Entry) -> None:
        if entry.unfit == FOLDER:
            return
        told = self._candidate(entry.path)
        if entry.unfit:
            self._tell(entry.path, entry.unfit)
            return
        if told is None:
            self.passed_over.append(_shown(entry.path))
            return
        notebook, candidate = told
        best = self.best.get(notebook)
        worse = best is not None and candidate <= best
        if worse and best is not None and not best.rivals(candidate):
            self._others.append((notebook, candidate, ""))
            return
        content = tempfile.TemporaryFile()  # noqa: SIM115 - it is kept until `close`
        try:
            copy(entry, content, self._submission.budget)
        except ArchiveError as why:
            content.close()
            if isinstance(why, OverBudget):
                raise
            self._tell(entry.path, str(why))
            return
        digest = digest_of(content)
        if worse:
            self._others.append((notebook, candidate, digest))
            content.close()
            return
        if best is not None:
            self._others.append((notebook, best, self._digests[notebook]))
            self.contents[notebook].close()
        self.best[notebook], self.contents[notebook], self._digests[notebook] = candidate, content, digest

    def _candidate(self, path: Names) -> tuple[str, Candidate] | None:
        """The notebook that a file could count as. Raises AmbiguousOwner where a plain folder seems to be several's."""
        top = self._submission.tops[path[0]]
        name = path[-1] if len(path) > 1 else top.own
        ending = next((ending for ending in NOTEBOOKS if name.lower().endswith(ending)), None)
        meant = which_notebook(name[: -len(ending)], self._notebooks) if ending else None
        if ending is None or meant is None or (ending == ".py" and not meant.by_name):
            return None
        if self._plain and (given := next(filter(by_platform, path[1:]), None)):
            raise AmbiguousOwner(SEVERAL_PEOPLE.format(printable(path[0]), printable(given)))
        form = -NOTEBOOKS.index(ending)
        found = Candidate(
            top.when or NEVER, meant.by_name, form, top.order, -len(path), meant.copies, meant.version, path, top
        )
        return meant.notebook, found

    def _settle(self) -> None:
        for notebook, other, digest in self._others:
            best = self.best[notebook]
            if best.rivals(other) and digest != self._digests[notebook]:
                raise self._undecided(best, other)
            self.older.append(_shown(other.path))
        for notebook in self.best:
            if self._plain:
                self._ask_whether_several(notebook)

    def _ask_whether_several(self, notebook: str) -> None:
        """Folders below a plain one may be people, and so may names before the notebook's."""
        best = self.best[notebook]
        alike = [other for which, other, _ in self._others if which == notebook and other.by_name == best.by_name]
        folders = dict.fromkeys(filter(None, (_folder(one.path) for one in [best, *alike])))
        names = {
            one.path[-1]: without_copies(one.path[-1]) for one in [best, *alike] if one.path[:-1] == best.path[:-1]
        }
        if _folder(best.path) and (len(folders) > 1 or self._submission.alone):
            raise AmbiguousOwner(SEVERAL_PEOPLE.format(printable(best.path[0]), printable(", ".join(folders))))
        if best.by_name and len(set(names.values())) > 1:
            raise AmbiguousOwner(SEVERAL_PEOPLE.format(printable(best.path[0]), printable(", ".join(names))))

    def _undecided(self, one: Candidate, other: Candidate) -> ArchiveError:
        why = ALIKE.format(_shown(one.path), _shown(other.path))
        return AmbiguousOwner(why) if self._plain else ArchiveError(why)


def _folder(path: Names) -> str:
    """The folder right below the outermost one in which a file lies, "" for none."""
    return path[1] if len(path) > 2 and not archive_kind(path[1]) else ""


def _shown(path: Names) -> str:
    return printable("/".join(path))
