"""The learner's saved progress, across sessions and lessons.

It is one small JSON file in the learner's data folder (`course.models.data_folder`); `progress` shows its path, and
the learner may delete it. Its content is not trusted: a damaged file is renamed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import CodeType
from typing import Any

from ..models.data_folder import PROGRESS, data_file
from ..models.write_file import PRIVATE, write_file

LARGEST = 1 << 20  # bytes; 79 exercises take a few thousand
STATUSES = ("passes", "partly right", "wrong", "not allowed", "needs a person", "not started")


@dataclass
class ExerciseProgress:
    """Progress on one exercise.

    status  of the best check; `earned` are its points
    passed  whether it has ever passed
    hints   number of hints shown
    tries   a hash of each different answer checked, see `bytecode_hash`
    asked   number of tries when the last hint was shown for the first time
    """

    status: str = "not started"
    earned: float = 0.0
    passed: bool = False
    hints: int = 0
    tries: list[int] = field(default_factory=list)
    asked: int = 0

    def after(self, status: str, earned: float, tried: int | None, *, most: int) -> ExerciseProgress:
        """The progress after a check, which takes away nothing that was reached; `tried` is the answer's hash.

        most  of the latest tries that are kept
        """
        tries = self.tries if tried is None or tried in self.tries else [*self.tries, tried][-most:]
        kept = replace(self, tries=tries, passed=self.passed or status == "passes")
        if (status == "passes", earned) < (self.status == "passes", self.earned):
            return kept
        return replace(kept, status=status, earned=earned)


Lessons = dict[str, dict[str, ExerciseProgress]]  # lesson -> exercise -> progress


class ProgressStore:
    """Progress on all exercises, kept in memory and, if possible, in a file. Never raises."""

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
        """Save progress, merged with what other notebooks have saved."""
        if self.get(lesson, exercise) != known:
            self._reread()
            self.lessons.setdefault(lesson, {})[exercise] = known
            self._save()

    def _reread(self) -> None:
        """Read again what other notebooks have saved since; keep what is known if the file is gone."""
        if self.path and (found := self._read()):
            self._lessons = found

    def _save(self) -> None:
        if self.path:
            try:
                _write(self.path, self.lessons)
            except OSError as error:
                print(f"Your progress cannot be saved beyond this session: {self.path} ({error.strerror}).")
                self.path = None

    def _read(self) -> Lessons:
        if self.path is None:
            return {}
        try:
            with self.path.open("rb") as file:
                text = file.read(LARGEST + 1)
        except OSError:
            return {}
        try:
            return _parse(text)
        except (ValueError, TypeError, RecursionError):
            aside = self.path.with_name(f"{self.path.name}.damaged")
            print(f"{self.path} is damaged and was renamed to {aside.name}. Your saved progress starts from zero.")
            with suppress(OSError):
                self.path.replace(aside)
            return {}


def open_store() -> ProgressStore:
    """Open the learner's saved progress; in memory only if saving is off."""
    return ProgressStore(data_file(PROGRESS))


def _write(path: Path, lessons: Lessons) -> None:
    """Write the file atomically. Raises OSError."""
    plain = {lesson: {name: asdict(known) for name, known in of.items()} for lesson, of in lessons.items()}
    write_file(path, json.dumps({"version": 1, "lessons": plain}, indent=1), PRIVATE)


def _parse(text: bytes) -> Lessons:
    """Parse the file. Raises ValueError or TypeError if it is damaged."""
    if len(text) > LARGEST:
        raise ValueError("too large")
    plain = json.loads(text)
    if not isinstance(plain, dict) or not isinstance(plain.get("lessons"), dict):
        raise ValueError("no lessons")
    return {
        str(lesson): {str(name): _to_progress(**record) for name, record in dict(of).items()}
        for lesson, of in plain["lessons"].items()
    }


def _to_progress(status: Any, earned: Any, passed: Any, hints: Any, tries: Any, asked: Any = 0) -> ExerciseProgress:
    if (
        status not in STATUSES
        or not 0 <= float(earned) <= 1000
        or not 0 <= int(hints) <= 1000
        or not 0 <= int(asked) <= 1000
    ):
        raise ValueError("out of bounds")
    tried = [int(number) for number in tries]
    return ExerciseProgress(status, float(earned), bool(passed), int(hints), tried, int(asked))


def bytecode_hash(f: Any) -> int | None:
    """Hash what the code of a function or class does; None if it has no code."""
    parts = list(_code_parts(f))
    return zlib.crc32(repr(parts).encode()) if parts else None


def _code_parts(value: Any) -> Iterator[object]:
    code = getattr(value, "__code__", value)
    if isinstance(code, CodeType):
        yield code.co_code, code.co_names
        for constant in code.co_consts:
            yield from _code_parts(constant) if isinstance(constant, CodeType) else [repr(constant)]
    elif isinstance(value, type):
        for member in vars(value).values():
            yield from _code_parts(member) if hasattr(member, "__code__") else ()
