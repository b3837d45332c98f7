"""List each person's submission in a platform's archives and folders.

A *download* is a zip, or the folder to which somebody unpacked one. The platform's names are at its top. Some platforms
put a folder around them: Gradescope (`assignment_123_export/submission_456/`), GitHub Classroom and Classroom 50 (both
`02-softmax-submissions/02-softmax-jsmith/`). Any other folder at the top belongs to one person, unless the teacher has
marked it in the identity table as several people's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from itertools import islice
from pathlib import Path

from grading.errors import ArchiveError
from grading.submitted.archives import (
    DOWNLOAD_LIST,
    FOLDER,
    Budget,
    Entry,
    Names,
    above_junk,
    in_folder,
    in_zip,
    is_junk,
    on_disk,
)
from grading.submitted.file_names import printable

from . import metadata
from .identities import IdentityTable
from .platforms import ParsedName, Submitter, outermost
from .selection import Submission

GRADESCOPE = re.compile(r"assignment_[0-9]+_export")
SCORES = "scores.csv"  # Classroom 50's table beside the repositories
GITHUB = re.compile(r"(?P<slug>.+)-submissions", re.S)
FEW = 3  # names to show of a longer list


@dataclass
class DownloadIndex:
    """Submissions by download and owner.

    unread   what could not be listed, with the reason
    nobodys  names of files without an owner
    """

    submissions: list[Submission] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    nobodys: dict[str, list[str]] = field(default_factory=dict)  # by download


class DownloadReader:
    """Lists downloads.

    budget  makes a new budget for each submission
    zone    of platforms' local times; None for this machine's
    """

    def __init__(
        self, budget: Callable[[], Budget], identities: IdentityTable, opened: ExitStack, zone: tzinfo | None = None
    ) -> None:
        self._budget, self._identities, self._opened, self._zone = budget, identities, opened, zone
        self.found = DownloadIndex()

    def path(self, path: Path) -> None:
        """List a download that a teacher named: a zip, a folder or one file."""
        if path.is_dir():
            name = path.resolve().name
            self._sort(self._below(self._inside(path), path), printable(name), name)
        elif path.suffix.lower() == ".zip":
            self._zip(path)
        else:
            self._sort([on_disk(path, path.parent)], "")

    def archive_folder(self, archive: Path) -> None:
        """List nbgrader's archive folder.

        Each zip at its top is a download, and everything else together is one more.
        """
        items = [item for item in self._inside(archive) if not is_junk((item.name,))]
        zips = [item for item in items if self._is_download(item)]
        self._sort(self._below((item for item in items if item not in zips), archive), "")
        for path in zips:
            self._zip(path)

    def _is_download(self, item: Path) -> bool:
        top = outermost(item.name, folder=False)
        named = top is not None and top.owner.platform != "file"
        return item.suffix.lower() == ".zip" and not named and not on_disk(item, item.parent).unfit

    def _below(self, items: Iterable[Path], root: Path) -> Iterator[Entry]:
        """The contents of a folder; the budget limits each person's folder in it."""
        for item in items:
            entry = on_disk(item, root)
            yield entry
            if entry.unfit == FOLDER and self._holds_several(item.name):
                yield from self._below(self._inside(item), root)
            elif entry.unfit == FOLDER:
                yield from islice(in_folder(item, root), self._budget().max_files + 1)

    def _holds_several(self, folder: str) -> bool:
        return self._identities.is_several(folder) or bool(GRADESCOPE.fullmatch(folder) or GITHUB.fullmatch(folder))

    def _inside(self, folder: Path) -> list[Path]:
        try:
            return sorted(folder.iterdir())
        except OSError as error:
            self.found.unread.append((printable(folder.name), str(error.strerror)))
            return []

    def _zip(self, path: Path) -> None:
        try:
            entries = in_zip(self._opened.enter_context(path.open("rb")), Budget(max_listed=DOWNLOAD_LIST))
        except (ArchiveError, OSError) as why:
            self.found.unread.append((printable(path.name), printable(str(why))))
            return
        self._sort(entries, printable(path.name), path.stem)

    def _sort(self, entries: Iterable[Entry], download: str, called: str = "") -> None:
        """Sort entries into submissions by owner.

        `called`: the download's name, which may identify the platform.
        """
        kept, left = list[Entry](), dict[Names, None]()
        for entry in entries:
            above = above_junk(entry.path)
            if above == entry.path != (".",):
                kept.append(entry)
            elif above != entry.path and above:
                left[above] = None
        kept += [Entry(folder, FOLDER) for folder in left]  # their owner may have nothing else
        try:
            owners = Owners(kept, called or download, self._zone)
        except ArchiveError as why:
            self.found.unread.append((download, str(why)))
            return
        by_owner: dict[Submitter, Submission] = {}
        inner: dict[str, list[Entry]] = {}
        for entry, tops in owners.entries_with_owners():
            if not tops:
                self.found.nobodys.setdefault(download, []).append(printable(entry.path[0]))
            for top in tops:
                if top.owner.platform == "folder" and self._identities.is_several(top.owner.name):
                    inner.setdefault(top.owner.name, []).extend([_strip_path(entry, 1)] if len(entry.path) > 1 else [])
                else:
                    by_owner.setdefault(top.owner, Submission(top.owner, download, self._budget())).add(entry, top)
        for submission in by_owner.values():
            submission.alone = len(by_owner) == 1
            self.found.submissions.append(submission)
        for folder, below in inner.items():
            self._sort(below, f"{download}/{printable(folder)}".lstrip("/"), folder)


class Owners:
    """Finds the owners of each entry in a download.

    Removes a folder that the platform put around the entries.
    """

    def __init__(self, entries: list[Entry], called: str, zone: tzinfo | None) -> None:
        self._entries, self._called, self._zone = entries, called, zone
        self._tables: dict[str, list[ParsedName]] | None = None
        self._slug = ""
        self._platform_files: set[str] = set()
        self._blackboard: dict[str, Submitter] = {}
        self._unwrap()
        self._read_exports()

    def _unwrap(self) -> None:
        tops = {entry.path[0] for entry in self._entries}
        folder = next(iter(tops)) if len(tops) == 1 else ""
        github = GITHUB.fullmatch(folder)
        inside = [_strip_path(entry, 1) for entry in self._entries if len(entry.path) > 1]
        if GRADESCOPE.fullmatch(folder) or (github and _repositories(inside, github)):
            self._entries, self._called = inside, folder
        if (github := GITHUB.fullmatch(self._called)) and (repositories := _repositories(self._entries, github)):
            self._entries, self._slug = repositories, f"{github['slug']}-"

    def _read_exports(self) -> None:
        """Read the files that the platform added to the download."""
        for entry in self._entries:
            name = entry.path[0]
            if entry.path == (metadata.METADATA,) and not entry.unfit:
                self._tables = metadata.gradescope(entry)
            elif len(entry.path) == 1 and (head := metadata.blackboard_head(name)):
                owner = metadata.blackboard(entry, head)
                self._blackboard |= {head: owner} if owner else {}
            else:
                continue
            self._platform_files.add(name)

    def entries_with_owners(self) -> Iterator[tuple[Entry, list[ParsedName]]]:
        for entry in self._entries:
            if entry.path[0] not in self._platform_files:
                yield entry, self._of(entry)

    def _of(self, entry: Entry) -> list[ParsedName]:
        name, folder = entry.path[0], len(entry.path) > 1 or entry.unfit == FOLDER
        if self._tables is not None:
            return self._tables.get(name) or [ParsedName(Submitter("file", name))] if folder else []
        if self._slug and folder:
            login = name.removeprefix(self._slug)
            return [ParsedName(Submitter("github", login, login))]
        top = outermost(name, folder)
        if top and top.owner.platform == "file" and entry.unfit:
            return []
        if top and top.owner.name in self._blackboard and top.owner.platform == "blackboard":
            top = ParsedName(self._blackboard[top.owner.name], top.own, top.order, top.when, top.late)
        return [replace(top, when=_in_zone(top.when, self._zone))] if top else []


def _in_zone(when: datetime | None, zone: tzinfo | None) -> datetime | None:
    """A platform's local time with its zone; None if no clock can show it."""
    try:
        return when and (when.replace(tzinfo=zone) if zone else when).astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _repositories(entries: list[Entry], folder: re.Match[str]) -> list[Entry]:
    """The entries apart from Classroom 50's table, if all of them are in repositories of the folder's assignment."""
    beginning, inside = f"{folder['slug']}-", [entry for entry in entries if entry.path != (SCORES,)]
    ours = all(
        entry.path[0].startswith(beginning)
        and entry.path[0] != beginning
        and (len(entry.path) > 1 or entry.unfit == FOLDER)
        for entry in inside
    )
    return inside if ours else []


def _strip_path(entry: Entry, names: int) -> Entry:
    return Entry(entry.path[names:], entry.unfit, entry.size, entry.open)


def first_few(texts: list[str]) -> str:
    """Join the first few texts and count the others."""
    more = f" and {len(texts) - FEW:,} more" if len(texts) > FEW else ""
    return "; ".join(texts[:FEW]) + more
