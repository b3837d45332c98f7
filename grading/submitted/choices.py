"""The teacher's choices between two files, if nothing shows which is newer.

A row without a choice is a question. An answer holds for exactly that file: another one that arrives later is asked
about again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from course.models.write_file import write_file
from grading.errors import ChoiceTableError

from .evidence import Origin
from .hand_ins import CHOICES, NAME, hand_ins_folder
from .teacher_csv import read_rows, to_bytes, to_cell

KEEP, REPLACE, ASK = "keep", "replace", "ask"
FIELDS = ("student", "lesson", "choice", "in submitted", "new file", "digest")


@dataclass(frozen=True)
class Choice:
    """One question.

    choice      KEEP, REPLACE or ""
    there, new  descriptions of the two files
    digest      of the new file
    """

    student: str
    lesson: str
    choice: str
    there: str
    new: str
    digest: str


class ChoiceTable:
    """The questions and answers in the table's file.

    default  the answer if the table has none: ASK, KEEP or REPLACE

    Raises ChoiceTableError if the file is not valid.
    """

    def __init__(self, root: Path, default: str = ASK) -> None:
        self.path, self._root, self._default = root / NAME / CHOICES, root, default
        self._before = self.path.read_bytes() if self.path.exists() else b""
        self.rows = {(row.student, row.lesson): row for row in self._read()}

    def choose(self, student: str, lesson: str, digest: str, there: Origin, new: Origin) -> str:
        """Decide on the new file: KEEP, REPLACE, or ASK, which adds a question."""
        key = to_cell(student), to_cell(lesson)
        row = self.rows.get(key)
        choice = row.choice if row and row.digest == digest else ""
        choice = choice or (self._default if self._default != ASK else "")
        if choice == REPLACE:
            self.settle(student, lesson)
        else:
            self.rows[key] = Choice(*key, choice, to_cell(str(there)), to_cell(str(new)), digest)
        return choice or ASK

    def settle(self, student: str, lesson: str, digest: str = "") -> None:
        """Remove a question that no longer arises.

        With a digest, only remove it if it is about that file.
        """
        key = to_cell(student), to_cell(lesson)
        if key in self.rows and digest in ("", self.rows[key].digest):
            del self.rows[key]

    def save(self) -> None:
        """Write the table if it has changed, questions first."""
        rows = sorted(self.rows.values(), key=lambda row: (bool(row.choice), row.lesson, row.student))
        content = to_bytes(FIELDS, map(astuple, rows))
        if content != self._before and (rows or self._before):
            hand_ins_folder(self._root)
            write_file(self.path, content)

    def _read(self) -> Iterator[Choice]:
        names, rows = read_rows(self._before, FIELDS)
        if missing := [name for name in FIELDS if name not in names]:
            raise ChoiceTableError(f"{self.path} has no column {missing[0]}. Its first line is: {','.join(FIELDS)}")
        for line, cells in rows:
            row = Choice(*(cells[name] for name in FIELDS))
            if row.choice.casefold() not in (KEEP, REPLACE, ""):
                raise ChoiceTableError(f"{self.path}, line {line}: expected {KEEP} or {REPLACE}, got {row.choice!r}")
            yield replace(row, choice=row.choice.casefold())
