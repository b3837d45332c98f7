"""Find the course directory and its lessons, wherever the engine is installed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import CourseError, NoCourseError

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
    """Return the absolute path of a course directory. Raises NoCourseError if it is none."""
    if not (folder / CONFIG).is_file():
        raise NoCourseError(f"{folder} is no course: it has no {CONFIG}. `grading init {folder}` makes one.")
    return folder.resolve()


def list_lessons(root: Path, named: Iterable[str] = (), *, ordinary: bool = False) -> list[str]:
    """List the lessons in source/ in order, or only those in `named`.

    ordinary  also list ordinary nbgrader assignments: source/NAME/ with one notebook, NAME.ipynb, but no NAME.py

    Raises CourseError if `named` has a name that is no lesson.
    """
    there, wanted = sorted(path.stem for path in (root / "source").glob("[0-9][0-9]_*.py")), list(named)
    if ordinary:
        there += _ordinary_assignments(root)
    if unknown := sorted(set(wanted) - set(there)):
        if any((root / "source" / unknown[0]).glob("*.ipynb")):
            raise CourseError(f"{unknown[0]} is an ordinary nbgrader assignment: use the commands of nbgrader for it")
        raise CourseError(f"no lesson {', '.join(unknown)}; there are {', '.join(there) or 'none'}")
    return [name for name in there if name in wanted] if wanted else there


def is_ordinary(root: Path, name: str) -> bool:
    """Whether this is an ordinary nbgrader assignment rather than a lesson."""
    return not (root / "source" / f"{name}.py").exists()


def _ordinary_assignments(root: Path) -> list[str]:
    folders = {path.parent for path in (root / "source").glob("*/*.ipynb") if is_ordinary(root, path.parent.name)}
    return sorted(folder.name for folder in folders if [file.stem for file in folder.glob("*.ipynb")] == [folder.name])
