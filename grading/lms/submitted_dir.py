"""Read and write a student's folder of a lesson in `submitted/`.

Each notebook is replaced atomically. nbgrader reads the time of submission from `timestamp.txt`, which stays unless a
download has another one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from nbgrader.utils import parse_utc

from .archives import CHUNK

STAMP = "timestamp.txt"


def holds(folder: Path, contents: Mapping[str, IO[bytes]]) -> bool:
    """Whether the notebooks in the folder have these contents."""
    return all(_same(folder / f"{notebook}.ipynb", content) for notebook, content in contents.items())


def _same(path: Path, content: IO[bytes]) -> bool:
    content.seek(0)
    try:
        with path.open("rb") as there:
            while (block := there.read(CHUNK)) == content.read(CHUNK):
                if not block:
                    return True
    except OSError:
        pass
    return False


def stamp(folder: Path) -> str:
    """The text of the folder's timestamp.txt, "" if there is none."""
    try:
        return (folder / STAMP).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def time_of(text: str) -> datetime | None:
    """Parse a timestamp; None if it is not a time."""
    try:
        time: datetime = parse_utc(text)
    except (ValueError, OverflowError, TypeError):
        return None
    return utc(time)


def utc(time: datetime) -> datetime:
    """Make a time of nbgrader's, which has no zone, an aware one."""
    return time.replace(tzinfo=UTC)


def text_of(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def write(folder: Path, contents: Mapping[str, IO[bytes]], timestamp: str) -> None:
    """Write notebooks and their time to the folder. Timestamp "": keep the old time."""
    folder.mkdir(parents=True, exist_ok=True)
    for notebook, content in contents.items():
        content.seek(0)
        beside = folder / f".{notebook}.new"
        with beside.open("wb") as file:
            shutil.copyfileobj(content, file)
        os.replace(beside, folder / f"{notebook}.ipynb")
    if timestamp:
        (folder / STAMP).write_text(timestamp + "\n", encoding="utf-8")
