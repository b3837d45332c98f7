"""Where the course lies: sources, grader tests, submissions and grades, wherever the engine itself is installed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import CourseError, NoCourseError

CONFIG = "nbgrader_config.py"


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
        "where source/ and grader_tests/ lie beside that file, name it by --course, or make one by `grading init DIR`."
    )


def open_course(folder: Path) -> Path:
    """The course directory that was named: this one and none above it. Raises NoCourseError."""
    if not (folder / CONFIG).is_file():
        raise NoCourseError(f"{folder} is no course: it has no {CONFIG}. `grading init {folder}` makes one.")
    return folder.resolve()


def list_lessons(root: Path, named: Iterable[str] = ()) -> list[str]:
    """Names of the lessons, in order: those with a text in source/; only those named, where any is.

    Raises CourseError for a name that is none of them.
    """
    there = sorted(path.stem for path in (root / "source").glob("[0-9][0-9]_*.py"))
    wanted = list(named)
    if unknown := sorted(set(wanted) - set(there)):
        raise CourseError(f"no lesson {', '.join(unknown)}; there are {', '.join(there) or 'none'}")
    return [name for name in there if name in wanted] if wanted else there
