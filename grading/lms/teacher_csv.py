"""Read and write a small table that a teacher completes in any spreadsheet."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..safe_csv import safe_cell


def read_rows(content: bytes, fields: Sequence[str]) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """The column names, and each row with its line number, whatever the spreadsheet's encoding and separator."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")  # spreadsheets on Windows save it so
    if not text.strip():
        return list(fields), iter(())
    head = text.splitlines()[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    names = list(reader.fieldnames or ())
    return names, ((reader.line_num, {name: (row.get(name) or "").strip() for name in fields}) for row in reader)


def to_bytes(fields: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The table's file. Cells are made safe by `to_cell`, except those that a teacher wrote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(fields)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8-sig")  # spreadsheets recognize UTF-8 by the mark


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(content)
    os.replace(beside, path)


def to_cell(text: str) -> str:
    """A stranger's text as a one-line cell that a spreadsheet does not evaluate."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text).strip()
    return ("'" if line.startswith("'") else "") + safe_cell(line)
