"""The table that says whose what is: `whose.csv` in the course directory, which a teacher fills in once.

A row has a student's id, or no id yet: then it is a question, and `why` says what cannot be told. Answers are
remembered and taken up by the next collect; so is whom a platform's number was found to be, so that it stays that
person's.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import IdentityTableError
from .platforms import LASTING, Submitter

FILE = "whose.csv"
FIELDS = ("student", "from", "number", "name", "why")
LEAVE, SEVERAL = "-", "*"  # answers: nobody's, leave it; a folder of several people
BY_NAME, NEW = "by the name", "new, by the name"  # why a row has ids that no teacher wrote
NO_ID = re.compile(r"""[/\\\\:*?"<>|\0-\x1f]|^\.\.?$""")  # what no folder can be called everywhere
FORMULA = tuple("=+-@\t\r'")  # at the beginning of a cell that spreadsheets take for one, and the mark that stops them


@dataclass(frozen=True)
class Row:
    platform: str
    number: str
    name: str
    students: tuple[str, ...]
    why: str

    @property
    def is_answer(self) -> bool:
        """Whether a teacher wrote the ids; else they were found, and are remembered."""
        return self.why not in (BY_NAME, NEW)


class IdentityTable:
    """What was asked and answered. Reads the table. Raises IdentityTableError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = path.read_bytes() if path.exists() else b""
        self._rows = {_key(row.platform, row.number, row.name): row for row in self._read()}

    def row(self, owner: Submitter) -> Row | None:
        """The owner's row, if there are ids in it."""
        row = self._rows.get(_key(owner.platform, _cell(owner.number), _cell(owner.name)))
        return row if row and row.students else None

    def rows_of_name(self, owner: Submitter) -> list[Row]:
        """Rows with ids that have the owner's name, whatever its number: one for each answer."""
        rows = (row for row in self._rows.values() if row.students)
        named = (row for row in rows if (row.platform, row.name) == (owner.platform, _cell(owner.name)))
        return list({row.students: row for row in named}.values())

    def is_several(self, folder: str) -> bool:
        """Whether a folder was said to hold several people's."""
        row = self.row(Submitter("folder", folder))
        return row is not None and row.students == (SEVERAL,)

    def known_as(self, student: str) -> Iterator[Row]:
        """The rows that name a student."""
        return (row for row in self._rows.values() if student in row.students)

    def ask(self, owner: Submitter, why: str) -> None:
        """Whose is it? A teacher's answer is kept, with what is wrong about it."""
        row = self.row(owner)
        self._put(owner, row.students if row and row.is_answer else (), why)

    def remember(self, owner: Submitter, students: tuple[str, ...], why: str) -> None:
        """Whom the owner was found to be; `why` is BY_NAME or NEW."""
        if not self.row(owner):
            self._put(owner, students, why)

    def forget(self, owner: Submitter) -> None:
        """Take out a question that needs no answer any more."""
        if not self.row(owner):
            self._rows.pop(_key(owner.platform, _cell(owner.number), _cell(owner.name)), None)

    def _put(self, owner: Submitter, students: tuple[str, ...], why: str) -> None:
        row = Row(owner.platform, _cell(owner.number), _cell(owner.name), students, _cell(why))
        self._rows[_key(row.platform, row.number, row.name)] = row

    def save(self) -> None:
        """Write what is new, questions first."""
        rows = sorted(self._rows.values(), key=lambda row: (bool(row.students), row.platform, row.name, row.number))
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(FIELDS)
        writer.writerows([" ".join(row.students), row.platform, row.number, row.name, row.why] for row in rows)
        text = out.getvalue().encode("utf-8-sig")  # with the mark by which spreadsheets know it
        if rows and text != self._before:
            beside = self._path.with_name(f".{self._path.name}.new")
            beside.write_bytes(text)
            os.replace(beside, self._path)

    def _read(self) -> Iterator[Row]:
        try:
            text = self._before.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = self._before.decode("cp1252", errors="replace")  # as spreadsheets on Windows save it
        if not text.strip():
            return
        head = text.splitlines()[0]
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
        if missing := {"student", "from", "number", "name"} - set(reader.fieldnames or ()):
            lacks = ", ".join(sorted(missing))
            raise IdentityTableError(
                f"{self._path} has no column {lacks}. Its first line should be: {','.join(FIELDS)}"
            )
        for line in reader:
            cells = {name: (line.get(name) or "").strip() for name in FIELDS}
            students = tuple(re.split(r"[\s,;]+", cells["student"])) if cells["student"] else ()
            for student in students:
                if NO_ID.search(student) and students != (SEVERAL,):
                    raise IdentityTableError(
                        f"{self._path}, line {reader.line_num}: {student!r} cannot be a student's id"
                    )
            yield Row(cells["from"], cells["number"], cells["name"], students, cells["why"])


def _key(platform: str, number: str, name: str) -> tuple[str, str, str]:
    """What a row is found by: the number, where it is a person's for good; else the name with it."""
    return platform, number, "" if number and platform in LASTING else name


def _cell(text: str) -> str:
    """A stranger's text as a cell of one line that a spreadsheet shows and does not compute."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text).strip()
    return "'" + line if line.startswith(FORMULA) else line
