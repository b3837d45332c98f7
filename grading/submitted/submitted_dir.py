"""Read and write a student's folder of a lesson in `submitted/`.

All commands that write to `submitted/` use this module. It replaces each notebook atomically, keeps the old one
(`replaced`), and records the source of the new one with its digest (`hand_ins`). nbgrader reads the time of submission
from `timestamp.txt`; this file stays unless a download has another time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat as stats
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import IO, Any
from zoneinfo import ZoneInfo

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_notebooks

from course.which_counts import Unclear, choose, rank
from course.models.write_file import open_replacement, write_file

from ..errors import NotHandedIn
from .archives import CHUNK
from .evidence import BY_HAND, Origin, text_of
from .file_names import printable
from .hand_ins import hand_ins_folder, origin_file
from .replaced import STAMP, keep_files, keep_folder

MOST_STAMP = 100  # characters of timestamp.txt
HAND = "put there by hand or by another tool"
MOST_NAMED = 10  # files of a folder in a message
TIME = re.compile(
    r"(?P<day>(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2})[ T](?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r" ?(?:(?P<offset>[+-][0-9]{2}:?[0-9]{2})|(?P<zone>[A-Za-z_]{1,20}(?:/[A-Za-z_]{1,20}){0,2}))?"
)


class SubmittedFolder:
    """One student's folder of one lesson.

    root    the course's directory
    folder  in submitted/; may be missing
    """

    def __init__(self, root: Path, folder: Path, student: str, lesson: str) -> None:
        self.root, self.folder, self.student, self.lesson = root, folder, student, lesson
        self._record = origin_file(root, student, lesson)

    def holds(self, contents: Mapping[str, IO[bytes]]) -> bool:
        """Whether the folder has notebooks with exactly these contents."""
        return all(_same(self.folder / f"{notebook}.ipynb", content) for notebook, content in contents.items())

    @property
    def stamp(self) -> str:
        """The text of the folder's timestamp.txt; "" if there is none."""
        path = self.folder / STAMP
        if not _is_ordinary(path):
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_STAMP).strip()

    def origin(self, notebooks: Collection[str] | None = None) -> Origin | None:
        """The origin of these notebooks, or of all; None if there are none."""
        names = None if notebooks is None else {f"{name}.ipynb" for name in notebooks}
        files = {name: digest for name, digest in self.digests().items() if names is None or name in names}
        if not files:
            return None
        record = self._read_record()
        if record and all(record["files"].get(name) == digest for name, digest in files.items()):
            told = time_of(record["when"]) if self.stamp == record["stamp"] else time_of(self.stamp)
            return Origin(record["channel"], record["source"], told, record["order"])
        # If a file was changed by hand, the time beside it belongs to the file before
        told = None if record and self.stamp == record["stamp"] else time_of(self.stamp)
        saved = max((self.folder / name).lstat().st_mtime for name in files)
        return Origin(BY_HAND, HAND, told, saved=datetime.fromtimestamp(saved, UTC))

    def write(self, contents: Mapping[str, IO[bytes]], timestamp: str, origin: Origin) -> None:
        """Write notebooks and their time, keep the replaced files, and record the origin.

        `timestamp`: "" keeps the old time.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        changed = [f"{name}.ipynb" for name, content in contents.items() if not _same(self._path(name), content)]
        was = self.origin(contents)
        if there := [name for name in changed if os.path.lexists(self.folder / name)]:
            keep_files(self.root, self.student, self.lesson, self.folder, [*there, STAMP], was, origin)
        for notebook, content in contents.items():
            content.seek(0)
            with open_replacement(self._path(notebook)) as file:
                shutil.copyfileobj(content, file)
        if timestamp:
            (self.folder / STAMP).write_text(timestamp + "\n", encoding="utf-8")
        if changed:
            self.record(origin, {f"{name}.ipynb" for name in contents})

    def put_in_place(self, course: CourseDirectory) -> None:
        """Give the file that counts the lesson's name; a file that had it is kept. Raises NotHandedIn, OSError."""
        chosen = choose_file(self.folder, course, self.lesson)
        if chosen != self._path(self.lesson) and _is_ordinary(chosen):
            with chosen.open("rb") as content:
                if not self.holds({self.lesson: content}):
                    self.write({self.lesson: content}, "", self.origin() or Origin(BY_HAND, HAND))

    def set_aside(self, arriving: Origin) -> None:
        """Move the folder to the replaced ones, for a command that writes a new one."""
        keep_folder(self.root, self.student, self.lesson, self.folder, self.origin(), arriving)

    def record(self, origin: Origin, written: Collection[str], left_out: Mapping[str, str] | None = None) -> None:
        """Record the origin of the notebooks just written.

        left_out  files that were not collected, each with the reason

        Other notebooks in the folder keep their recorded origin, unless they were changed.
        """
        now, before = self.digests(), (self._read_record() or {}).get("files", {})
        files = {name: digest for name, digest in now.items() if name in written or before.get(name) == digest}
        about = {
            "channel": origin.channel,
            "source": origin.source,
            "when": text_of(origin.when) if origin.when else "",
            "order": origin.order,
            "stamp": self.stamp,
            "files": files,
            "left_out": dict(left_out or {}),
        }
        hand_ins_folder(self.root)
        write_file(self._record, json.dumps(about, indent=1, ensure_ascii=False) + "\n")

    @property
    def left_out(self) -> dict[str, str]:
        """The files that were not collected with what is in the folder now, each with the reason."""
        record = self._read_record() or {}
        return dict(record.get("left_out", {})) if record.get("files") == self.digests() else {}

    def _path(self, notebook: str) -> Path:
        return self.folder / f"{notebook}.ipynb"

    def _read_record(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self._record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def digests(self) -> dict[str, str]:
        """The digest of each notebook in the folder."""
        names = sorted(path.name for path in self.folder.glob("*.ipynb")) if self.folder.is_dir() else []
        return {name: digest_of_path(self.folder / name) for name in names}


def handed_out(course: CourseDirectory, lesson: str) -> frozenset[str]:
    """The digests of a lesson's released notebooks."""
    folder = Path(course.format_path(course.release_directory, ".", lesson))
    return frozenset(digest_of_path(folder / name) for name in find_all_notebooks(str(folder)))


def choose_file(folder: Path, course: CourseDirectory, lesson: str) -> Path:
    """The file in a folder that counts as the lesson's notebook.

    In an nbgrader assignment with other notebooks, it is the one with the lesson's name, whether it is there or not.
    Raises NotHandedIn, with a sentence for the student, if none does.
    """
    own = f"{lesson}.ipynb"
    if find_all_notebooks(course.format_path(course.release_directory, ".", lesson)) not in ([], [own]):
        return folder / own
    paths = (Path(place, name).relative_to(folder) for place, _, names in os.walk(folder) for name in names)
    visible = [path.parts for path in paths if not any(part.startswith((".", "__MACOSX")) for part in path.parts)]

    try:
        chosen = choose(visible, lesson, lambda path: _digest(folder.joinpath(*path)), handed_out(course, lesson))
    except Unclear as unclear:
        both = " and ".join(printable("/".join(path)) for path in (unclear.best, unclear.other))
        raise NotHandedIn(f"It is not clear which file counts: {both}. Hand in one file, {own}.") from None
    if chosen is None:
        names = ("a folder " * path.is_dir() + printable(path.name) for path in sorted(folder.glob("*"))[:MOST_NAMED])
        but = f", but {there}" if (there := ", ".join(names)) else ""
        raise NotHandedIn(f"No {own} was handed in{but}. Hand in {own}.")
    return folder.joinpath(*chosen)


def copy_into_place(folder: Path, course: CourseDirectory, lesson: str) -> None:
    """`SubmittedFolder.put_in_place` in a folder that is new, so that nothing is kept. Raises NotHandedIn, OSError."""
    chosen = choose_file(folder, course, lesson)
    if chosen != folder / f"{lesson}.ipynb" and _is_ordinary(chosen):
        shutil.copy(chosen, beside := folder / f".{lesson}.new")
        os.replace(beside, folder / f"{lesson}.ipynb")


def note_on_choice(file: Path, lesson: str) -> str:
    """A sentence on which file was chosen in its folder, by the student's own name for it; "" if there was one file.

    file: the chosen one, or `put_in_place`'s copy of it
    """
    named = [
        path for path in sorted(file.parent.iterdir()) if (found := rank((path.name,), [lesson])) and found[1].by_name
    ]
    others = [path for path in named if path != file]
    copied = file.name == f"{lesson}.ipynb" and [path for path in others if _digest(path) == _digest(file)]
    if not others:
        return ""
    name = printable((copied or [file])[0].name)
    return f"`{name}` was graded. If another file counts, hand in that one alone, as {lesson}.ipynb."


def _digest(path: Path) -> str:
    """`digest_of_path`, also for a file that cannot be read."""
    try:
        return digest_of_path(path)
    except OSError as error:
        return str(error.strerror)


def digest_of_path(path: Path) -> str:
    """The SHA-256 of an ordinary file; a fixed text for anything else.

    Opens only ordinary files.
    """
    if not _is_ordinary(path):
        return "not an ordinary file"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_ordinary(path: Path) -> bool:
    """Whether it is an ordinary file.

    A student may have handed in a link, pipe or device.
    """
    try:
        return stats.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _same(path: Path, content: IO[bytes]) -> bool:
    content.seek(0)
    if not _is_ordinary(path):
        return False
    with path.open("rb") as there:
        while (block := there.read(CHUNK)) == content.read(CHUNK):
            if not block:
                return True
    return False


def time_of(text: str) -> datetime | None:
    """Parse a time in nbgrader's form, such as `2026-11-21 08:00:00.5 UTC`; None if it is not one.

    A time without a zone that is known here is in UTC, as for nbgrader.
    """
    match = TIME.fullmatch(text.strip())
    if match is None:
        return None
    try:
        time = datetime.fromisoformat(" ".join(match.group("day", "clock")) + (match["offset"] or ""))
        return time.replace(tzinfo=time.tzinfo or _zone(match["zone"])).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of June
        return None


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ValueError, OSError, KeyError):  # such as CEST, which no file describes
        return UTC


def utc(time: datetime) -> datetime:
    """Add the time zone UTC to nbgrader's times, which have none."""
    return time.replace(tzinfo=UTC)


def submitted_folder(course: CourseDirectory, student: str, lesson: str) -> SubmittedFolder:
    """A student's folder for a lesson, where the course's settings place it."""
    place = Path(course.format_path(course.submitted_directory, student, lesson))
    return SubmittedFolder(Path(course.root), place, student, lesson)
