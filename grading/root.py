"""Where the course lies: sources, grader tests, submissions and grades, wherever the engine itself is installed."""

from __future__ import annotations

from pathlib import Path

CONFIG = "nbgrader_config.py"


class NoCourseError(FileNotFoundError):
    """There is no course directory here; the message says what one is and what to do."""


def course_root(start: Path | None = None) -> Path:
    """The course directory: the nearest with an nbgrader_config.py, from `start` (the working directory) upwards.

    Raises NoCourseError.
    """
    begun = (start or Path.cwd()).resolve()
    for folder in (begun, *begun.parents):
        if (folder / CONFIG).is_file():
            return folder
    raise NoCourseError(
        f"no course here: neither {begun} nor a directory above it has an {CONFIG}. Go to your course's directory, "
        "where source/ and grader_tests/ lie beside that file."
    )
