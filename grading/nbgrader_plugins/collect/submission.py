"""What one person handed in, in one download, and which of its files counts."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from typing import IO

from .archives import FOLDER, Budget, Entry, Names, NotRead, OverBudget, copy, unpacked
from .names import Owner, by_platform, outermost, printable, which_notebook

SEVERAL_PEOPLE = (
    "it holds names as a platform gives them ({}). If it is a download, move what it holds up into the archive folder"
)
ALIKE = "nothing tells which file counts: {} and {}"


@dataclass
class Submission:
    """`entries` have paths that begin with the outermost name; `refused` says why nothing of it is collected."""

    owner: Owner
    download: str  # the zip that it was in; "" for the archive folder itself
    budget: Budget
    entries: list[Entry] = field(default_factory=list)
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.owner} in {printable(self.download)}" if self.download else str(self.owner)

    def add(self, entry: Entry) -> None:
        """List what was handed in, as far as the budget goes."""
        try:
            self.budget.pay(files=1)
            self.entries.append(entry)
        except OverBudget as why:
            self.refused = str(why)


@dataclass(order=True)
class Candidate:
    """A file that could count as a notebook. The greatest does: one that is named so before any other, then the latest
    in Canvas's order, then the nearest to the top."""

    by_name: bool
    order: int
    height: int
    copies: int
    version: int
    path: Names = field(compare=False)

    def rivals(self, other: Candidate) -> bool:
        """Whether nothing tells which counts: both lie equally deep, in two folders or under names of one rank."""
        mine, theirs = ((one.by_name, one.order, one.height) for one in (self, other))
        return self is not other and mine == theirs and (self.path[:-1] != other.path[:-1] or self == other)


class Chosen:
    """The files of a submission that count, in temporary files until `close`.

    contents: by notebook.
    trouble: what could not be read, in words, each with its path; the rest counts all the same.
    passed_over: names of files that are no notebook of this lesson, or not the one that counts.
    """

    def __init__(self, submission: Submission, notebooks: list[str]) -> None:
        """Reads the submission. Raises NotRead where nothing of it may be collected."""
        self.contents: dict[str, IO[bytes]] = {}
        self.trouble: list[str] = []
        self.passed_over: list[str] = []
        self._submission, self._notebooks = submission, notebooks
        self._best: dict[str, Candidate] = {}
        self._others: list[tuple[str, Candidate]] = []
        try:
            for entry in unpacked(submission.entries, submission.budget, self._tell):
                self._look_at(entry)
            self._settle()
        except NotRead:
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
        if notebook in self._best and candidate <= self._best[notebook]:
            self._others.append((notebook, candidate))
            return
        content = tempfile.TemporaryFile()  # noqa: SIM115 - it is kept until `close`
        try:
            copy(entry, content, self._submission.budget)
        except NotRead as why:
            content.close()
            if isinstance(why, OverBudget):
                raise
            self._tell(entry.path, str(why))
            return
        if notebook in self._best:
            self._others.append((notebook, self._best[notebook]))
            self.contents[notebook].close()
        self._best[notebook], self.contents[notebook] = candidate, content

    def _candidate(self, path: Names) -> tuple[str, Candidate] | None:
        """The notebook that a file could count as. Raises NotRead where a plain folder seems to be several people's."""
        top = outermost(path[0], folder=len(path) > 1)
        assert top is not None, "a submission is listed under its owner's name"
        stem, ending = os.path.splitext(path[-1] if len(path) > 1 else top.own)
        meant = which_notebook(stem, self._notebooks) if ending.lower() == ".ipynb" else None
        if meant is None:
            return None
        if top.owner.kind == "folder" and (given := next(filter(by_platform, path[1:]), None)):
            raise NotRead(SEVERAL_PEOPLE.format(printable(given)))
        return meant.notebook, Candidate(meant.by_name, top.order, -len(path), meant.copies, meant.version, path)

    def _settle(self) -> None:
        for notebook, other in self._others:
            best = self._best[notebook]
            if best.rivals(other):
                raise NotRead(ALIKE.format(_shown(best.path), _shown(other.path)))
            self.passed_over.append(_shown(other.path))


def _shown(path: Names) -> str:
    return printable("/".join(path))
