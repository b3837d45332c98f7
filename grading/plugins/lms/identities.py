"""The identity table `student-ids.csv`, for a teacher to complete.

It is in the course directory. A row without a student's id is a question, and `why` says what is unclear. Later
collections use the answers. The table also remembers which student a platform's number belonged to, so that it stays
that student's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course.models.write_file import write_file
from grading.course_dir.student_ids import why_unfit
from grading.errors import IdentityTableError
from grading.submitted.teacher_csv import read_rows, to_bytes
from grading.submitted.teacher_csv import to_cell as _cell

from .platforms import LASTING, Submitter

FILE = "student-ids.csv"
FIELDS = ("student", "from", "number", "name", "why")
LEAVE, SEVERAL = "-", "*"  # answers: ignore it; the folder belongs to several people
BY_NAME, NEW = "by the name", "new, by the name"  # reasons for ids that no teacher wrote


@dataclass(frozen=True)
class Row:
    platform: str
    number: str
    name: str
    students: tuple[str, ...]
    why: str

    @property
    def is_answer(self) -> bool:
        """Whether a teacher wrote the ids; otherwise they were found and remembered."""
        return self.why not in (BY_NAME, NEW)


class IdentityTable:
    """The questions and answers in the table's file.

    Raises IdentityTableError if the file is not valid.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = path.read_bytes() if path.exists() else b""
        self._rows = {_key(row.platform, row.number, row.name): row for row in self._read()}

    @classmethod
    def of(cls, root: Path) -> IdentityTable:
        """The table of a course."""
        return cls(root / FILE)

    def row(self, owner: Submitter) -> Row | None:
        """The owner's row, if it has ids."""
        row = self._rows.get(_key(owner.platform, _cell(owner.number), _cell(owner.name)))
        return row if row and row.students else None

    def rows_of_name(self, owner: Submitter) -> list[Row]:
        """Rows with ids for the owner's name and any number, one per answer."""
        rows = (row for row in self._rows.values() if row.students)
        matching = (row for row in rows if (row.platform, row.name) == (owner.platform, _cell(owner.name)))
        return list({row.students: row for row in matching}.values())

    def is_several(self, folder: str) -> bool:
        """Whether the table says that a folder belongs to several people."""
        row = self.row(Submitter("folder", folder))
        return row is not None and row.students == (SEVERAL,)

    def known_as(self, student: str) -> Iterator[Row]:
        """The rows that name a student."""
        return (row for row in self._rows.values() if student in row.students)

    def ask(self, owner: Submitter, why: str) -> None:
        """Add a question. Keeps a teacher's answer, and says what is wrong with it."""
        row = self.row(owner)
        self._put(owner, row.students if row and row.is_answer else (), why)

    def remember(self, owner: Submitter, students: tuple[str, ...], why: str) -> None:
        """Remember which students the owner matched; `why` is BY_NAME or NEW."""
        if not self.row(owner):
            self._put(owner, students, why)

    def forget(self, owner: Submitter) -> None:
        """Remove a question that no longer needs an answer."""
        if not self.row(owner):
            self._rows.pop(_key(owner.platform, _cell(owner.number), _cell(owner.name)), None)

    def _put(self, owner: Submitter, students: tuple[str, ...], why: str) -> None:
        row = Row(owner.platform, _cell(owner.number), _cell(owner.name), students, _cell(why))
        self._rows[_key(row.platform, row.number, row.name)] = row

    def save(self) -> None:
        """Write the table if it has changed, questions first."""
        rows = sorted(self._rows.values(), key=lambda row: (bool(row.students), row.platform, row.name, row.number))
        cells = [(" ".join(row.students), row.platform, row.number, row.name, row.why) for row in rows]
        content = to_bytes(FIELDS, cells)
        if rows and content != self._before:
            write_file(self.path, content)

    def _read(self) -> Iterator[Row]:
        names, rows = read_rows(self._before, FIELDS)
        if missing := {"student", "from", "number", "name"} - set(names):
            lacks = ", ".join(sorted(missing))
            raise IdentityTableError(f"{self.path} has no column {lacks}. Its first line should be: {','.join(FIELDS)}")
        for line, cells in rows:
            students = tuple(re.split(r"[\s,;]+", cells["student"])) if cells["student"] else ()
            for student in students:
                if (why := why_unfit(student)) and students != (SEVERAL,):
                    raise IdentityTableError(f"{self.path}, line {line}: {student!r}: {why}")
            yield Row(cells["from"], cells["number"], cells["name"], students, cells["why"])


def _key(platform: str, number: str, name: str) -> tuple[str, str, str]:
    """The key of a row: the number if it is permanent, otherwise number and name."""
    return platform, number, "" if number and platform in LASTING else name
