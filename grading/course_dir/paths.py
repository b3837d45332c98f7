"""Find the course directory, wherever the engine is installed."""

from __future__ import annotations

import shlex
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
            return folder
    raise NoCourseError(
        f"course not found: no {CONFIG} in {begun} or above it. Change to your course folder, pass "
        "--course DIR, or make a course with `grading init DIR`."
    )


def open_course(folder: Path) -> Path:
    """Return the absolute path of a course directory.

    Raises NoCourseError if it is not a course.
    """
    if not (folder / CONFIG).is_file():
        init = shlex.join(["grading", "init", str(folder)])
        raise NoCourseError(f"{folder} is not a course: it has no {CONFIG}. Run `{init}` to make one.")
    return folder.resolve()
