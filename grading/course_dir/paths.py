"""Find the course directory, wherever the engine is installed."""

from __future__ import annotations

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
        f"no course here: neither {begun} nor a directory above it has an {CONFIG}. Go to your course's directory, "
        "where source/ and grader_tests/ lie beside that file, name it by --course, or make one by `grading init DIR`."
    )


def open_course(folder: Path) -> Path:
    """Return the absolute path of a course directory.

    Raises NoCourseError if it is not a course.
    """
    if not (folder / CONFIG).is_file():
        raise NoCourseError(f"{folder} is no course: it has no {CONFIG}. `grading init {folder}` makes one.")
    return folder.resolve()
