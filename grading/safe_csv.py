"""CSV files that are safe to open in a spreadsheet: no formulas, accents intact."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .points import points_text

FORMULA = "=+-@＝＋－＠"  # a cell that begins with one of these is a formula to spreadsheets
# After these a cell may begin: spreadsheets also split at semicolons where people write a decimal comma
SEPARATORS = ";,\t\r\n"
AROUND = " \"'"  # a spreadsheet may drop these at the beginning of a cell
ENCODING = "utf-8-sig"  # Excel recognizes UTF-8 by the mark


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write a CSV file with a header line; returns the number of rows. Raises OSError."""
    with path.open("w", encoding=ENCODING, newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        count = 0
        for row in _safe_rows(rows):
            writer.writerow(row)
            count += 1
        return count


def _safe_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield {name: _safe(value) for name, value in row.items()}


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return safe_cell(value)
    return points_text(value) if isinstance(value, float) else value


def safe_cell(text: str) -> str:
    """Put an apostrophe before every place in a text that may begin a formula."""
    safe, begins = list[str](), True
    for character in text:
        safe.append(f"'{character}" if begins and character in FORMULA else character)
        begins = character in SEPARATORS or (begins and character in AROUND)
    return "".join(safe)
