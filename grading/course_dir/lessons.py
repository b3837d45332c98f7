"""The lessons of a course directory, in the course's order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import CourseError

COURSE_FILE = "course.toml"
MUSEUM = "bug_museum"  # a notebook without points, and not an assignment


def list_lessons(root: Path, named: Iterable[str] = (), *, ordinary: bool = False) -> list[str]:
    """List the lessons in source/ in the course's order, or only those in `named`.

    `ordinary`: also list ordinary nbgrader assignments, that is source/NAME/ with one notebook, NAME.ipynb, but without
    NAME.py.

    Raises CourseError if `named` has a name without a lesson, and CourseFileError.
    """
    texts, wanted = sorted(path.stem for path in (root / "source").glob("[0-9][0-9]_*.py")), list(named)
    there = _ordered(root, texts)
    if ordinary:
        there += _ordinary_assignments(root)
    if unknown := sorted(set(wanted) - set(there)):
        if left_out := sorted(set(unknown) & set(texts)):
            raise CourseError(
                f"{COURSE_FILE} leaves out {', '.join(left_out)}: set include = true there, or delete the line"
            )
        if any((root / "source" / unknown[0]).glob("*.ipynb")):
            raise CourseError(f"{unknown[0]} is an ordinary nbgrader assignment: use nbgrader's own commands for it")
        raise CourseError(f"no lesson {', '.join(unknown)}; the lessons are {', '.join(there) or 'not written yet'}")
    return [name for name in there if name in wanted] if wanted else there


def _ordered(root: Path, texts: list[str]) -> list[str]:
    """The course's own selection and order of the lessons in source/."""
    if not (root / COURSE_FILE).exists():
        return texts
    from .course_file import load_course_file  # pydantic takes a tenth of a second to import

    return load_course_file(root).ordered(texts)


def released_museum(root: Path) -> list[str]:
    """The name of the notebook without points, in a list; none if it is not in release/."""
    return [MUSEUM] if (root / "release" / MUSEUM / f"{MUSEUM}.ipynb").is_file() else []


def is_ordinary(root: Path, name: str) -> bool:
    """Whether this is an ordinary nbgrader assignment rather than a lesson."""
    return not (root / "source" / f"{name}.py").exists()


def _ordinary_assignments(root: Path) -> list[str]:
    folders = {path.parent for path in (root / "source").glob("*/*.ipynb") if is_ordinary(root, path.parent.name)}
    return sorted(folder.name for folder in folders if [file.stem for file in folder.glob("*.ipynb")] == [folder.name])
