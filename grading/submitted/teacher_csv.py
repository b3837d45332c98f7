"""Read and write small tables that a teacher completes in any spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from grading.safe_csv import safe_cell


def read_rows(content: bytes, fields: Sequence[str]) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Read the column names, and each row with its line number.

    Accepts the encodings and separators of all common spreadsheets.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")  # as saved by spreadsheets on Windows
    if not text.strip():
        return list(fields), iter(())
    head = text.splitlines()[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    names = list(reader.fieldnames or ())
    return names, ((reader.line_num, {name: (row.get(name) or "").strip() for name in fields}) for row in reader)


def to_bytes(fields: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The table as a file.

    Pass cells through `to_cell` first, except those that a teacher wrote.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(fields)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8-sig")  # spreadsheets recognize UTF-8 by its byte order mark


def to_cell(text: str) -> str:
    """Turn untrusted text into a one-line cell that a spreadsheet does not evaluate."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text).strip()
    return ("'" if line.startswith("'") else "") + safe_cell(line)
