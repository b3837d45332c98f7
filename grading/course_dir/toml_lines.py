"""Line numbers of the keys in a TOML file, for error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
KEYS = rf"{PART}(?:\s*\.\s*{PART})*"
HEADER = re.compile(rf"^\s*(\[\[?)\s*({KEYS})\s*\]")
ASSIGNED = re.compile(rf"^\s*({KEYS})\s*=")


def key_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The line of each key, counted from 1, by its path.

    Numbers the tables of an array from 0.
    """
    found: dict[tuple[str | int, ...], int] = {}
    arrays: dict[tuple[str | int, ...], int] = {}  # index of the last table in each array of tables
    table: tuple[str | int, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := HEADER.match(line):
            names = _parts(header[2])
            table = _resolved(names[:-1], arrays)
            if header[1] == "[[":
                arrays[(*table, names[-1])] = arrays.get((*table, names[-1]), -1) + 1
            table = _resolved(names, arrays)
            found.setdefault(table, number)
        elif key := ASSIGNED.match(line):
            names = _parts(key[1])
            for length in range(1, len(names) + 1):
                found.setdefault((*table, *names[:length]), number)
    return found


def find_line(lines: Mapping[tuple[str | int, ...], int], path: tuple[str | int, ...]) -> int:
    """The line of a key, or of the closest table around it; 1 if there is none."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return 1


def nearest(name: str, valid: Iterable[str]) -> str:
    """End an error message: suggest the closest valid name, or list a few valid names."""
    names = sorted(valid)
    if close := get_close_matches(name, names, 1):
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(names)}" if 0 < len(names) <= 20 else ""


def _parts(keys: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(PART, keys)]


def _resolved(names: list[str], arrays: Mapping[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """A table's path; the name of an array of tables means its last table."""
    path: tuple[str | int, ...] = ()
    for name in names:
        path = (*path, name)
        if path in arrays:
            path = (*path, arrays[path])
    return path
