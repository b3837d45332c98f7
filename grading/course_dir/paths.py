"""Find the course directory, wherever the engine is installed."""

from __future__ import annotations

import glob
from pathlib import Path

from ..errors import NoCourseError

CONFIG = "nbgrader_config.py"


def course_root(start: Path | None = None) -> Path:
    """Find the nearest folder with an nbgrader_config.py, from `start` up.

    `start` defaults to the working directory. Raises NoCourseError.
    """
    begun = (start or Path.cwd()).resolve()
    for folder in (begun, *begun.parents):
        if (folder / CONFIG).is_file():
            return demand_plain_path(folder)
    raise NoCourseError(
        f"course not found: no {CONFIG} in {begun} or above it. Change to your course folder, pass "
        "--course DIR, or make a course with `grading init DIR`."
    )


def open_course(folder: Path) -> Path:
    """Return the absolute path of a course directory.

    Raises NoCourseError if it is not a course, or cannot be one there.
    """
    if not (folder / CONFIG).is_file():
        raise NoCourseError(f"{folder} is not a course: it has no {CONFIG}. Run `grading init {folder}` to make one.")
    return demand_plain_path(folder)


def demand_plain_path(folder: Path) -> Path:
    """Return the absolute path of a course directory.

    Raises NoCourseError if nbgrader would take the path for a pattern.
    """
    path = folder.resolve()
    if glob.has_magic(str(path)):
        raise NoCourseError(f"nbgrader takes *, ? and [ for patterns, so no course can be in {path}. Rename the folder")
    return path
