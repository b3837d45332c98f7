"""Collects what a learning platform lets a teacher download, under the names that it gives the files.

    downloaded/<lesson>/archive/     what was downloaded: archives, folders, single notebooks
    nbgrader zip_collect <lesson>    ->  submitted/<student>/<lesson>/<lesson>.ipynb

Names of Moodle (`Jane Smith_1234_assignsubmission_file_/02_softmax.ipynb`), Canvas
(`smithjane_late_12345_678_02_softmax-1.ipynb`) and Colab (`Copy of 02_softmax.ipynb`, `02_softmax (1).ipynb`) are
understood, and plain folders `<student>/<notebook>.ipynb`. A student is looked up in the gradebook by name, id or LMS
id (`nbgrader db student import`), and otherwise called by the name in the file's. Of several files by one student for
one notebook the last counts. Every other file is named with the reason; it stays where it was downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins.zipcollect import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import find_all_notebooks
from traitlets import Int

MAX_EXTRACTED = 4 * 2**30  # bytes, of all archives together
MAX_NESTED = 3  # archives in archives
ZIP, TAR = (".zip",), (".tar", ".tar.gz", ".tgz")
JUNK = re.compile(r"(^|/)(__MACOSX|\.ipynb_checkpoints)/|(^|/)(\._|\.DS_Store)")

MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?")
CANVAS = re.compile(r"(?P<name>[^\W_]+)(?P<late>_late)?_(?P<number>\d+)_(?P<order>\d+)_(?P<file>.+)", re.IGNORECASE)
VERSION = re.compile(r"[-_ ]*\(?(\d+)\)?\s*")  # after a notebook's own name: "-1", " (2)"
LESSON = re.compile(r"(?<!\d)\d\d[ _-][a-z]", re.IGNORECASE)

HELP = "Rename it to <student>/{}.ipynb in the archive folder and collect again with --force."


class TolerantExtractor(ExtractorPlugin):
    """Unpacks archives, archives in them too; one that is damaged or too large is reported and left as a file."""

    max_bytes = Int(MAX_EXTRACTED, help="Unpack no more than this many bytes in all.").tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        self._left = self.max_bytes
        for folder, _, names in os.walk(archive_path):
            into = Path(extracted_path) / Path(folder).relative_to(archive_path)
            into.mkdir(parents=True, exist_ok=True)
            for path in (Path(folder) / name for name in sorted(names)):
                if not self._unpacked(path, into, MAX_NESTED) and path.is_file() and not path.is_symlink():
                    shutil.copy(path, into / path.name)

    def _unpacked(self, path: Path, into: Path, nested: int) -> bool:
        """Whether it was an archive and was unpacked, into a folder of its own name; what it holds likewise."""
        kind = next((ending for ending in ZIP + TAR if path.name.lower().endswith(ending)), "")
        if not kind or not nested:
            return False
        folder = into / path.name[: -len(kind)]
        try:
            self._unpack(path, folder, kind)
        except Exception as error:  # damaged, encrypted, forged, too large: unpacking raises nearly anything
            self.log.error("%s was not unpacked (%s: %s)", path, type(error).__name__, error)
            shutil.rmtree(folder, ignore_errors=True)
            return False
        for inner in sorted(path for path in folder.rglob("*") if path.is_file()):
            if self._unpacked(inner, inner.parent, nested - 1):
                inner.unlink()
        return True

    def _unpack(self, path: Path, folder: Path, kind: str) -> None:
        if kind in ZIP:
            with zipfile.ZipFile(path) as archive:
                self._reserve(info.file_size for info in archive.infolist())
                archive.extractall(folder)  # leaves out drives, roots and `..` of names; makes no links
        else:
            with tarfile.open(path) as archive:
                members = [member for member in archive.getmembers() if member.isfile() or member.isdir()]
                self._reserve(member.size for member in members)
                archive.extractall(folder, members, filter="data")

    def _reserve(self, sizes: Iterable[int]) -> None:
        wanted = sum(sizes)
        if wanted > self._left:
            raise ValueError(f"it would unpack to {wanted / 2**20:,.0f} MiB, and {self._left / 2**20:,.0f} are left")
        self._left -= wanted


@dataclass(frozen=True)
class Found:
    """What a file's name tells. `order` says which of a student's files is later."""

    path: str
    person: str  # the name as written
    number: str  # the platform's number for the person
    kind: str  # "moodle", "canvas" or "folder"
    notebook: str
    order: tuple[int, int, int]


class DownloadCollector(FileNameCollectorPlugin):
    """Tells zip_collect whose each extracted file is; see the module.

    The first question looks at all files together: which is the last of each student can only be seen so.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._answers: dict[str, dict[str, str] | None] | None = None

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        if self._answers is None:
            self._answers = self._sort_out()
        return self._answers.get(submitted_file)

    def _sort_out(self) -> dict[str, dict[str, str] | None]:
        app = self.parent
        root = app._format_collect_path(app.extracted_directory)
        lesson = app.coursedir.assignment_id
        release = app.coursedir.format_path(app.coursedir.release_directory, ".", lesson)
        notebooks = [name.removesuffix(".ipynb") for name in find_all_notebooks(release)] or [lesson]
        found: list[Found] = []
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                told = read_name(path, os.path.relpath(path, root), notebooks)
                if isinstance(told, Found):
                    found.append(told)
                elif told:
                    self.log.warning("%s is not collected: %s %s", path, told, HELP.format(notebooks[0]))
        return self._last_of_each(found, self._students(found))

    def _last_of_each(self, found: list[Found], students: dict[Found, str]) -> dict[str, dict[str, str] | None]:
        by_place: dict[tuple[str, str], list[Found]] = {}
        for one in found:
            by_place.setdefault((students[one], one.notebook), []).append(one)
        answers: dict[str, dict[str, str] | None] = {}
        for (student, notebook), several in by_place.items():
            *others, last = sorted(several, key=lambda one: (one.order, one.path))
            answers[last.path] = {"student_id": student, "file_id": f"{notebook}.ipynb"}
            for other in others:
                self.log.warning("%s is not collected: %s of the same student counts", other.path, last.path)
        return answers

    def _students(self, found: list[Found]) -> dict[Found, str]:
        """Ids of students. Two people of one name whom the gradebook cannot tell apart get their numbers added."""
        with Gradebook(self.parent.coursedir.db_url, self.parent.coursedir.course_id) as gradebook:
            known = _Known(gradebook.students)
        named = {one: known.find(one) or slug(one.person) for one in found}
        numbers: dict[str, set[str]] = {}
        for one, student in named.items():
            numbers.setdefault(student, set()).add(one.number)
        for one, student in named.items():
            if len(numbers[student]) > 1 and known.find(one) is None:
                named[one] = f"{student}_{one.number}"
                self.log.warning("Several people are called %s: %s is collected as %s", student, one.path, named[one])
        return named


class _Known:
    """The gradebook's students, by what a download may call them; a name that two share finds neither."""

    def __init__(self, students: Iterable[Any]) -> None:
        self._by_number: dict[str, str] = {}
        self._by_name: dict[str, set[str]] = {}
        for student in students:
            if student.lms_user_id:
                self._by_number[str(student.lms_user_id)] = student.id
            first, last = student.first_name or "", student.last_name or ""
            for name in (student.id, f"{first} {last}", f"{last} {first}", student.email or ""):
                if key := _letters(name):
                    self._by_name.setdefault(key, set()).add(student.id)

    def find(self, one: Found) -> str | None:
        if one.kind == "canvas" and one.number in self._by_number:
            return self._by_number[one.number]
        same = self._by_name.get(_letters(one.person), set())
        return next(iter(same)) if len(same) == 1 else None


def read_name(path: str, relative: str, notebooks: list[str]) -> Found | str:
    """What the name of a downloaded file tells, or why it is not collected; "" where that needs no word."""
    relative = relative.replace(os.sep, "/")
    if JUNK.search(relative):
        return ""
    *folders, name = relative.split("/")
    stem, ending = os.path.splitext(name)
    if ending != ".ipynb":
        return f"it is no notebook, its name ends in {ending or 'nothing'}."
    moodle = next((m for folder in reversed(folders) if (m := MOODLE.fullmatch(folder))), None)
    canvas = CANVAS.fullmatch(stem)
    moodle_in_name = MOODLE.match(stem)
    if moodle or moodle_in_name:
        person = moodle or moodle_in_name
        own = stem if moodle else stem[moodle_in_name.end() :]  # type: ignore[union-attr]
        who, number, kind, order = person["name"], person["number"], "moodle", 0  # type: ignore[index]
    elif canvas:
        own = canvas["file"]
        who, number, kind, order = canvas["name"], canvas["number"], "canvas", int(canvas["order"])
    elif folders:
        own, who, number, kind, order = stem, folders[-1], "", "folder", 0
    else:
        return "its name does not tell whose it is."
    told = which_notebook(own, notebooks)
    if isinstance(told, str):
        return told
    notebook, copies, version = told
    return Found(path, who, number, kind, notebook, (order, copies, version))


def which_notebook(stem: str, notebooks: list[str]) -> tuple[str, int, int] | str:
    """(notebook, how often it was copied, its version) of a name such as "Copy of 02_softmax (1)"; or why none.

    Anything may stand before the notebook's name (Colab writes "Copy of" in many languages). A name that tells no
    lesson's is taken for the one notebook that there is; another lesson's is not.
    """
    plain = re.sub(r"[ _-]+", "_", unicodedata.normalize("NFC", stem)).lower()
    for notebook in sorted(notebooks, key=len, reverse=True):
        wanted = re.sub(r"[ _-]+", "_", notebook).lower()
        place = plain.rfind(wanted)
        if place >= 0:
            before, after = plain[:place], plain[place + len(wanted) :]
            version = VERSION.fullmatch(after)
            return notebook, len(re.findall(r"[^\W\d_]+", before)), int(version[1]) if version else bool(after)
    if len(notebooks) == 1 and not LESSON.search(stem):
        return notebooks[0], 0, 0
    return f"its name tells none of this lesson's notebooks ({', '.join(notebooks)})."


def slug(name: str) -> str:
    """A student's id from a name: letters, digits and single underscores."""
    return re.sub(r"[\W_]+", "_", unicodedata.normalize("NFC", name)).strip("_").lower() or "unnamed"


def _letters(name: str) -> str:
    """A name as Canvas writes it: letters and digits only, without accents."""
    plain = unicodedata.normalize("NFKD", name)
    return "".join(c for c in plain if c.isalnum()).lower()
