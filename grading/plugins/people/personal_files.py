"""Find and delete a course's files about one student.

These are the student's own folders, lines of shared tables, and other files that mention the id.

Does not cover: the gradebook (`gradebook.personal_rows`), anything outside the course directory.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from course.models.write_file import write_file
from grading.plugins.lms.identities import FIELDS, FILE
from grading.submitted.hand_ins import ORIGINS, REPLACED
from grading.submitted.teacher_csv import read_rows, to_bytes

STEPS = ("submitted", "autograded", "feedback", ORIGINS, REPLACED, "extracted", "archive")
SKIPPED = frozenset([".git", ".venv", "venv", "node_modules", "__pycache__", ".ipynb_checkpoints"])
GRADEBOOK = re.compile(r"gradebook\.db(-journal|-wal|-shm)?")
TABLES, LOGS = (".csv",), (".log",)
SEPARATOR = re.compile(r"[\s,;]+")


@dataclass
class PersonalFiles:
    """Files about one student, by path relative to the course.

    folders   of this student alone
    lines     lines of tables and logs about the student, by file
    mentions  other files that contain the id
    """

    folders: list[Path] = field(default_factory=list)
    lines: dict[Path, list[str]] = field(default_factory=dict)
    mentions: list[Path] = field(default_factory=list)


def find_files(root: Path, student: str) -> PersonalFiles:
    """Search the whole course directory."""
    found = PersonalFiles()
    word = _word(student)
    for folder, names, files in os.walk(root):
        here = Path(folder)
        for name in sorted(names):
            if name == student and here.name in STEPS:
                found.folders.append((here / name).relative_to(root))
        names[:] = sorted(n for n in names if n not in SKIPPED and not (n == student and here.name in STEPS))
        for name in sorted(files):
            path = here / name
            is_gradebook = here == root and GRADEBOOK.fullmatch(name)  # its rows are searched elsewhere
            if path.is_symlink() or not path.is_file() or is_gradebook:
                continue
            if lines := _lines(path, student):
                found.lines[path.relative_to(root)] = lines
            elif word.search(path.read_bytes()) or word.search(name.encode()):
                found.mentions.append(path.relative_to(root))
    return found


def remove_files(root: Path, student: str, found: PersonalFiles) -> None:
    """Delete the student's folders, and their lines of tables and logs."""
    for folder in found.folders:
        shutil.rmtree(root / folder)
    for path in found.lines:
        if path.name == FILE:
            _leave_identities(root / path, student)
        else:
            kept = [raw for raw, is_personal in _records(root / path, student) if not is_personal]
            write_file(root / path, b"".join(kept))


def files_in(root: Path, folders: Iterable[Path]) -> Iterator[Path]:
    """All ordinary files in these folders, without following links."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(root)


def _word(student: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w\x80-\xff])" + re.escape(student.encode()) + rb"(?![\w\x80-\xff])")


def _lines(path: Path, student: str) -> list[str]:
    """Lines of a table or log about the student."""
    if not path.name.endswith(TABLES + LOGS):
        return []
    return [raw.decode(errors="replace").strip() for raw, is_personal in _records(path, student) if is_personal]


def _records(path: Path, student: str) -> Iterator[tuple[bytes, bool]]:
    """The bytes of each table record or log line, and whether it is about the student."""
    content = path.read_bytes()
    if path.name.endswith(LOGS):
        word = _word(student)
        yield from ((line, bool(word.search(line))) for line in content.splitlines(keepends=True))
        return
    raw = content.splitlines(keepends=True)
    text = [line.decode("utf-8-sig", errors="surrogateescape") for line in raw]
    delimiter = max(",;\t", key=text[0].count) if text else ","
    reader, at = csv.reader(io.StringIO("".join(text), newline=""), delimiter=delimiter), 0
    while True:
        try:
            cells = next(reader)
        except (StopIteration, csv.Error):
            break
        end = reader.line_num
        yield b"".join(raw[at:end]), any(student in (cell, *SEPARATOR.split(cell)) for cell in cells)
        at = end
    yield from ((line, False) for line in raw[at:])


def _leave_identities(path: Path, student: str) -> None:
    """Remove a student from the identity table; a group's row keeps the others."""
    word = re.compile(rf"(?<!\w){re.escape(student)}(?!\w)")
    kept = []
    for _, cells in read_rows(path.read_bytes(), FIELDS)[1]:
        students = [other for other in SEPARATOR.split(cells["student"]) if other and other != student]
        named = student in SEPARATOR.split(cells["student"])
        if not (named and not students) and not word.search(cells["why"]) and cells["name"] != student:
            kept.append([" ".join(students), *(cells[name] for name in FIELDS[1:])])
    write_file(path, to_bytes(FIELDS, kept))
