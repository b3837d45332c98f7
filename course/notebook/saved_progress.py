"""What is remembered of a learner's work from one session and lesson to the next.

One small JSON file in the learner's own data folder, which `progress` names and anybody may delete. It is read as
something that anybody may have written: a damaged one is set aside. The environment variable ATTENTION_MEMORY names
another file; "off" keeps nothing, and so it is set where answers are graded.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

SETTING, OFF = "ATTENTION_MEMORY", "off"
LARGEST = 1 << 20  # bytes; 44 exercises take a few thousand
STATUSES = ("passes", "partly right", "wrong", "not allowed", "needs a person", "not started")


@dataclass
class ExerciseProgress:
    """What is known of one exercise.

    status  of the last check; `earned` are its points
    passed  whether it ever passed
    hints   how many were shown
    tries   a number for each different answer that was checked, see `code_of`
    """

    status: str = "not started"
    earned: float = 0.0
    passed: bool = False
    hints: int = 0
    tries: list[int] = field(default_factory=list)


Lessons = dict[str, dict[str, ExerciseProgress]]  # lesson -> exercise -> what is known of it


class ProgressStore:
    """What is known of all exercises, in this process and, where there is a file, beyond it. Never raises."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lessons: Lessons | None = None

    @property
    def lessons(self) -> Lessons:
        if self._lessons is None:
            self._lessons = self._read()
        return self._lessons

    def get(self, lesson: str, exercise: str) -> ExerciseProgress:
        return self.lessons.get(lesson, {}).get(exercise, ExerciseProgress())

    def record(self, lesson: str, exercise: str, known: ExerciseProgress) -> None:
        """Remember this, beside what other notebooks have noted since."""
        if self.get(lesson, exercise) == known:
            return
        if self.path:
            self._lessons = self._read() or self._lessons
        self.lessons.setdefault(lesson, {})[exercise] = known
        if self.path:
            try:
                _write(self.path, self.lessons)
            except OSError as error:
                print(f"Your progress is not remembered beyond this session: {self.path} ({error.strerror}).")
                self.path = None

    def _read(self) -> Lessons:
        if self.path is None:
            return self._lessons or {}
        try:
            with self.path.open("rb") as file:
                text = file.read(LARGEST + 1)
        except OSError:
            return {}
        try:
            return _parsed(text)
        except (ValueError, TypeError, RecursionError):
            aside = self.path.with_name(f"{self.path.name}.damaged")
            print(f"{self.path} is damaged and was set aside as {aside.name}. What was remembered begins anew.")
            with suppress(OSError):
                self.path.replace(aside)
            return {}


def open_store() -> ProgressStore:
    """The learner's memory, where this environment keeps one."""
    return ProgressStore(place())


def place() -> Path | None:
    """The file, whether it is there or not; None where nothing is kept."""
    named = os.environ.get(SETTING, "")
    if named:
        return None if named == OFF else Path(named)
    try:
        return _data_folder() / "attention-course" / "progress.json"
    except RuntimeError:  # nobody's home
        return None


def _data_folder() -> Path:
    """Where programs keep a user's data, by the custom of the system. Raises RuntimeError."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _write(path: Path, lessons: Lessons) -> None:
    """Whole or not at all, whoever reads meanwhile. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {lesson: {name: asdict(known) for name, known in of.items()} for lesson, of in lessons.items()}
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "lessons": plain}, file, indent=1)
        os.replace(made, path)
    except OSError:
        with suppress(OSError):
            os.unlink(made)
        raise


def _parsed(text: bytes) -> Lessons:
    """Raises ValueError or TypeError for anything that `_write` does not write."""
    if len(text) > LARGEST:
        raise ValueError("too large")
    plain = json.loads(text)
    if not isinstance(plain, dict) or not isinstance(plain.get("lessons"), dict):
        raise ValueError("no lessons")
    return {
        str(lesson): {str(name): _known(**one) for name, one in dict(of).items()}
        for lesson, of in plain["lessons"].items()
    }


def _known(status: Any, earned: Any, passed: Any, hints: Any, tries: Any) -> ExerciseProgress:
    if status not in STATUSES or not 0 <= float(earned) <= 1000 or not 0 <= int(hints) <= 1000:
        raise ValueError("out of bounds")
    return ExerciseProgress(status, float(earned), bool(passed), int(hints), [int(one) for one in tries])


def bytecode_hash(f: Any) -> int | None:
    """A number for what the code of a function or class does, whatever its comments and spaces; None: it has none."""
    parts = list(_parts(f))
    return zlib.crc32(repr(parts).encode()) if parts else None


def _parts(value: Any) -> Iterator[object]:
    code = getattr(value, "__code__", value)
    if isinstance(code, CodeType):
        yield code.co_code, code.co_names
        for constant in code.co_consts:
            yield from _parts(constant) if isinstance(constant, CodeType) else [repr(constant)]
    elif isinstance(value, type):
        for one in vars(value).values():
            yield from _parts(one) if hasattr(one, "__code__") else ()
