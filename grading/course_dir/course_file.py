"""course.toml: what a teacher's course is, in one validated file.

    title = "Attention, autumn 2026"
    timezone = "Europe/Berlin"

    [[lesson]]
    name = "02_softmax"
    due = 2026-11-20 23:59:00
    exercises.softmax.points = 8
    exercises.entropy.include = false

Courses without the file have all lessons in source/, as they are. Does not cover: settings of nbgrader that follow from
it (`course_config.py`), lessons that follow from it (`exercises/lesson.py`, `authoring/adapt_notebook.py`), tables and
keys of plug-ins, which derive from `CourseFile` and `LessonEntry` (`grading/plugin.py`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from grading.errors import CourseFileError
from grading.plugin import load_plugins

from .lesson_change import LessonChange
from .lesson_marks import exercise_points
from .lessons import COURSE_FILE as FILE
from .toml_lines import find_line, key_lines, nearest

Policy = Literal["none", "zero", "half", "10% a day", "20% a day", "2% an hour"]
SIZES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
Size = Annotated[str, Field(pattern=r"^\d+ (KiB|MiB|GiB)$")]


class Table(BaseModel):
    """A table of the file; unknown keys and values of a wrong type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ExerciseEntry(Table):
    """One exercise or written question. `points`: None for the lesson's own points."""

    points: int | None = Field(default=None, gt=0)
    include: bool = True


class LessonEntry(Table):
    """One lesson."""

    name: str
    include: bool = True
    due: datetime | None = None
    exercises: dict[str, ExerciseEntry] = {}


class Late(Table):
    """The late policy (`nbgrader_plugins/late_policy.py`)."""

    policy: Policy = "none"
    grace_minutes: float = Field(default=0.0, ge=0)
    most: float = Field(default=1.0, gt=0, le=1)


class Limits(Table):
    """Limits of a submission: sizes ("2 GiB"), times in seconds (docs/security.md)."""

    memory: Size | None = None
    disk: Size | None = None
    processes: int | None = Field(default=None, gt=0)
    cell_seconds: int | None = Field(default=None, gt=0)
    notebook_seconds: float | None = Field(default=None, gt=0)


class Publish(Table):
    """Where students' notebooks are published (`authoring/student_install.py`)."""

    repository: str = ""
    hub: str = ""
    package: str = ""
    solutions: list[str] = []


class CourseFile(Table):
    """The whole file; every part of it is optional."""

    title: str = ""
    id: str = Field(default="", pattern=r"^[A-Za-z0-9_-]*$")
    timezone: str = ""
    late: Late = Late()
    limits: Limits = Limits()
    publish: Publish = Publish()
    lesson: list[LessonEntry] = []

    def ordered(self, there: Sequence[str]) -> list[str]:
        """The lessons of the course: listed ones in their order, others by number."""
        found = [entry.name for entry in self.lesson if entry.include and entry.name in there]
        listed = {entry.name for entry in self.lesson}
        for name in sorted(set(there) - listed):
            found.insert(next((i for i, other in enumerate(found) if other > name), len(found)), name)
        return found

    def entry(self, lesson: str) -> LessonEntry:
        return next((entry for entry in self.lesson if entry.name == lesson), _lesson_entry()(name=lesson))

    def due(self, lesson: str) -> datetime | None:
        """When a lesson is due, with its time zone; None if the file has no due date."""
        due = self.entry(lesson).due
        return due.replace(tzinfo=ZoneInfo(self.timezone)) if due and due.tzinfo is None else due

    def notes(self, lesson: str) -> list[str]:
        """What `grading settings` shows of a lesson besides its points; plug-ins add theirs."""
        return []

    def change(self, lesson: str) -> LessonChange:
        """How the course changes the lesson's own exercises and points."""
        entries = self.entry(lesson).exercises
        return LessonChange(
            {name: entry.points for name, entry in entries.items() if entry.points and entry.include},
            frozenset(name for name, entry in entries.items() if not entry.include),
        )


Kind = TypeVar("Kind", bound=Table)


def _with_plugins(core: type[Kind], **fields: Any) -> type[Kind]:
    """A table of the core with the keys that plug-ins add to it."""
    modules = [import_module(plugin.settings) for plugin in load_plugins().values() if plugin.settings]
    theirs = [
        kind for module in modules for kind in vars(module).values() if _is_table(kind) and core in kind.__bases__
    ]
    return create_model(core.__name__, __base__=tuple(theirs) or core, **fields)


@cache
def _lesson_entry() -> type[LessonEntry]:
    return _with_plugins(LessonEntry)


@cache
def _course_file() -> type[CourseFile]:
    return _with_plugins(CourseFile, lesson=(list[_lesson_entry()], []))  # type: ignore[misc]


def load_course_file(root: Path) -> CourseFile:
    """Read and validate a course's course.toml.

    An absent file counts as an empty one. Raises CourseFileError.
    """
    path = root / FILE
    try:
        return _load(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return _course_file()()


@lru_cache(maxsize=8)
def _load(path: Path, _: int) -> CourseFile:
    return parse_course_file(path.read_bytes(), path.parent)


def parse_course_file(content: bytes, root: Path) -> CourseFile:
    """Validate the content of a course.toml against the lessons in `root`.

    Raises CourseFileError.
    """
    try:
        text = content.decode()
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseFileError(f"{FILE}: {error}") from None
    lines = key_lines(text)
    try:
        found = _course_file().model_validate(data)
    except ValidationError as error:
        problems = [_explained(problem["loc"], problem, lines) for problem in error.errors()]
    else:
        problems = list(_contradictions(found, root, lines))
    if problems:
        raise CourseFileError("\n".join(f"{FILE}:{line}: {text}" for line, text in sorted(set(problems))))
    return found


def exercise_names(root: Path, lesson: str) -> list[str]:
    """The exercises and written questions of a lesson."""
    questions = (root / "grader_tests" / lesson / "questions").glob("*.toml")
    return [*exercise_points(root, lesson), *sorted(path.stem for path in questions)]


Lines = dict[tuple[str | int, ...], int]


def _explained(loc: tuple[str | int, ...], problem: Any, lines: Lines) -> tuple[int, str]:
    """The line and the message for one error of pydantic's."""
    line, key, given = find_line(lines, loc), str(loc[-1]), problem.get("input")
    context, kind = problem.get("ctx", {}), problem["type"]
    if kind == "extra_forbidden":
        return line, f"unknown key {key!r}{nearest(key, _keys_at(loc[:-1]))}"
    if kind == "missing":
        return line, f"{key!r} is missing"
    if kind == "literal_error":
        return line, f"{key}: expected one of {', '.join(map(repr, get_args(Policy)))}, got {given!r}"
    if kind in ("greater_than", "greater_than_equal", "less_than_equal"):
        bound = {"greater_than": "more than", "greater_than_equal": "at least", "less_than_equal": "at most"}[kind]
        limit = next(iter(context.values()))
        return line, f"{key}: expected {bound} {limit}, got {given}"
    expected = {
        "int_type": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "string_type": "text in quotation marks",
        "list_type": "a list",
        "dict_type": "a table",
        "model_type": "a table",
        "datetime_type": "a date with a time, such as 2026-11-20 23:59:00, without quotation marks",
        "string_pattern_mismatch": 'a size such as "2 GiB"'
        if key in ("memory", "disk")
        else "letters, digits, - and _",
    }.get(kind, problem["msg"])
    return line, f"{key}: expected {expected}, got {_shown(given)}"


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _keys_at(loc: Sequence[str | int]) -> list[str]:
    """The valid keys in a table of the file."""
    model: Any = _course_file()
    for part in loc:
        if isinstance(part, str) and part in model.model_fields:
            kind: Any = model.model_fields[part].annotation
            model = next((one for one in (kind, *get_args(kind)) if _is_table(one)), model)
    return list(model.model_fields)


def _is_table(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Table)


def _contradictions(found: CourseFile, root: Path, lines: Lines) -> Iterator[tuple[int, str]]:
    """Errors that the schema cannot find.

    These are unknown and duplicate names, times without a zone, and lessons without an exercise.
    """
    if found.timezone and found.timezone not in available_timezones():
        hint = nearest(found.timezone, available_timezones())
        yield find_line(lines, ("timezone",)), f"unknown time zone {found.timezone!r}{hint}"
    there = sorted(path.stem for path in (root / "source").glob("[0-9][0-9]_*.py"))
    seen = set[str]()
    for index, entry in enumerate(found.lesson):
        place: tuple[str | int, ...] = ("lesson", index)
        if entry.name in seen:
            yield find_line(lines, (*place, "name")), f"{entry.name} is listed twice"
        elif entry.name not in there:
            yield find_line(lines, (*place, "name")), f"unknown lesson {entry.name!r}{nearest(entry.name, there)}"
        seen.add(entry.name)
        if entry.due and entry.due.tzinfo is None and not found.timezone:
            yield (
                find_line(lines, (*place, "due")),
                "due has no time zone: set `timezone` at the top of the file, or write 2026-11-20T23:59:00+01:00",
            )
        names = exercise_names(root, entry.name)
        for name in entry.exercises if names else ():
            if name not in names:
                yield find_line(lines, (*place, "exercises", name)), f"unknown exercise {name!r}{nearest(name, names)}"
        if names and not set(names) - found.change(entry.name).left_out:
            yield (
                find_line(lines, place),
                f"{entry.name} has no exercise left: to leave out the lesson, set include = false",
            )
    for lesson in found.publish.solutions:
        if lesson not in (*there, "*"):
            yield find_line(lines, ("publish", "solutions")), f"unknown lesson {lesson!r}{nearest(lesson, there)}"


def size_in_bytes(size: str) -> int:
    """Convert a size such as "2 GiB" to bytes."""
    number, unit = size.split()
    return int(number) * SIZES[unit]
