"""CSV files that a spreadsheet opens as they are meant: no text becomes a formula, no name loses its accents."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would take a text that begins so for a formula
ENCODING = "utf-8-sig"  # the mark tells Excel it is UTF-8


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write a CSV file with a line of columns; returns how many rows there are. Raises OSError."""
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
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return f"{round(value, 4):g}" if isinstance(value, float) else value
