"""What was made or proved of which content: it is done again when a file of it changed, not when only its time did."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

SOURCES = (".py", ".toml")


def sources(*places: Path) -> list[Path]:
    """The files that say what a program does: those given, and all in the directories given."""
    every = (path for place in places for path in (sorted(place.rglob("*")) if place.is_dir() else [place]))
    return [path for path in every if path.suffix in SOURCES and path.is_file()]


def digest(files: Iterable[Path], *about: str) -> str:
    """A hash of the files' names and contents, in this order, and of what else is told about them."""
    made = hashlib.sha256(" ".join(about).encode())
    for path in files:
        made.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return made.hexdigest()


class Ledger:
    """A file that holds, in JSON, by lesson, a digest of what was done. One that cannot be read holds nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, str]:
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def add(self, new: Mapping[str, str]) -> None:
        if known := {**self.read(), **new}:
            self.path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
