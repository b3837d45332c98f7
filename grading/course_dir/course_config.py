"""Derive nbgrader's settings from course.toml; nbgrader_config.py overrides them.

A course's nbgrader_config.py begins with the lines that `grading init` writes:

    from grading.course_dir.course_config import course_settings
    c.merge(course_settings(__file__))

They make nbgrader's own commands read course.toml too. `grading` reads it also without them.
"""

from __future__ import annotations

import copy
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grading.errors import ConfigFileError, CourseFileError

from ..errors import GradingError
from . import overrides
from .course_file import CourseFile, load_course_file, size_in_bytes
from .lessons import COURSE_FILE
from .paths import CONFIG

NO_ID = "course"  # PostgreSQL does not accept an empty id
_without_course_file: ContextVar[bool] = ContextVar("without_course_file", default=False)


@dataclass(frozen=True)
class Setting:
    """One setting in force. `name`: such as `LatePolicy.policy`; `source`: the file that sets it."""

    name: str
    value: object
    source: str


def load_config(root: Path) -> Config:
    """Load a course's configuration.

    The command line overrides nbgrader_config.py, which overrides course.toml. Raises CourseFileError and
    ConfigFileError.
    """
    config = settings_of(load_course_file(root))
    config.merge(_config_file(root))
    config.merge(copy.deepcopy(overrides.given))
    return config


def settings_in_force(root: Path) -> list[Setting]:
    """List the settings in which a course differs from the default config file.

    Each comes with the file that makes it. Raises as `load_config` does.
    """
    with _only_config_file():
        own, usual = _config_file(root), dict(_flat(_config_file(default_config_file().parent)))
    derived = settings_of(load_course_file(root))
    found = [
        *(Setting(name, _without_secret(name, v), CONFIG) for name, v in _flat(own) if usual.get(name, ...) != v),
        *(Setting(name, value, COURSE_FILE) for name, value in _flat(derived) if not _has(own, name)),
    ]
    return sorted(found, key=lambda setting: setting.name)


def _without_secret(name: str, value: object) -> object:
    """Hide a seed, and the password in a gradebook's address."""
    if name == "JudgedExecute.seed":
        return "(secret)"
    return re.sub(r"(?<=:)[^:@/]+(?=@)", "…", value) if name == "CourseDirectory.db_url" else value  # type: ignore[call-overload]


def course_settings(config_file: str) -> Config:
    """The settings from the course.toml beside this nbgrader_config.py.

    If the file is invalid, the command `nbgrader` prints the problems and exits without a traceback.
    """
    if _without_course_file.get():
        return Config()
    try:
        return settings_of(load_course_file(Path(config_file).resolve().parent))
    except CourseFileError as error:
        if Path(sys.argv[0]).stem == "nbgrader":
            print(error, file=sys.stderr)
            raise SystemExit(2) from None
        raise


def settings_of(course: CourseFile) -> Config:
    """nbgrader's settings for this file. Settings that the file does not give are not set, except the course's id."""
    config: Any = Config()
    said = course.model_fields_set
    config.CourseDirectory.course_id = course.id or NO_ID
    if "late" in said:
        for name in sorted(course.late.model_fields_set):
            config.LatePolicy[name] = getattr(course.late, name)
    if course.timezone:
        config.LatePolicy.timezone = course.timezone
    for name in sorted(course.publish.model_fields_set):
        config.Delivery[name] = getattr(course.publish, name)
    limits = course.limits
    sizes = {name: size_in_bytes(size) for name in ("memory", "disk") if (size := getattr(limits, name))}
    bounds = sizes | ({"processes": limits.processes} if limits.processes else {})
    if bounds:
        config.JudgedExecute.limits = bounds
    if limits.cell_seconds:
        config.ExecutePreprocessor.timeout = limits.cell_seconds
    if limits.notebook_seconds:
        config.JudgedExecute.notebook_seconds = limits.notebook_seconds
    found: Config = config
    return found


def default_config_file() -> Path:
    """The default nbgrader_config.py of a course, from the engine's wheel or checkout."""
    here = Path(__file__).parents[1]
    return next(path for path in (here / "templates" / CONFIG, here.parent / CONFIG) if path.is_file())


def _config_file(root: Path) -> Config:
    """Settings in nbgrader_config.py. Raises ConfigFileError for whatever it raises, with the line."""
    try:
        return PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    except GradingError:
        raise
    except Exception as error:
        path = str(root / CONFIG)
        frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        line = error.lineno if isinstance(error, SyntaxError) else (frames or [None])[-1]
        where = f"{CONFIG}:{line}" if line else CONFIG
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ConfigFileError(f"{where}: {type(error).__name__}: {said}. Correct the line, or delete it.") from None


@contextmanager
def _only_config_file() -> Iterator[None]:
    """Within this block, nbgrader_config.py ignores course.toml."""
    token = _without_course_file.set(True)
    try:
        yield
    finally:
        _without_course_file.reset(token)


def _flat(config: Config) -> Iterator[tuple[str, object]]:
    for section, traits in config.items():
        if isinstance(traits, Config):
            yield from ((f"{section}.{name}", value) for name, value in traits.items())


def _has(config: Config, name: str) -> bool:
    section, _, trait = name.partition(".")
    return section in config and trait in config[section]
