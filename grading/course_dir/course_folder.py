"""Where a course may be, and who may open it.

The directory's own mode decides. What others cannot enter they can neither read nor lock, so 0700 is enough for one
account, and 2770 for a Unix group whose members grade. Does not cover: student code (`grading.sandbox`).
"""

from __future__ import annotations

import glob
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CourseError, NoCourseError

KEPT = ("source", "grader_tests", "submitted", "autograded", "feedback", "hand-ins", "gradebook.db*", ".grading-*")
_SHARED = stat.S_ISGID | stat.S_IWGRP  # a directory for a group of people who grade


def demand_plain_path(folder: Path) -> Path:
    """Return the absolute path of a course directory.

    Raises NoCourseError if nbgrader would take the path for a pattern.
    """
    path = folder.resolve()
    if glob.has_magic(str(path)):
        raise NoCourseError(f"nbgrader takes *, ? and [ for patterns, so no course can be in {path}. Rename the folder")
    return path


def make_course_directory(root: Path) -> None:
    """Make the directory of a new course, or close an existing one to others.

    Raises CourseError if no course can be there, or only another account can close the directory.
    """
    demand_plain_path(root)
    existed = root.is_dir()
    root.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & stat.S_ISVTX:
        raise CourseError(f"nothing was made: {root} is a directory that all accounts share. Choose one in it")
    shared = existed and mode & _SHARED == _SHARED
    try:
        root.chmod(mode & ~(stat.S_IRWXO if shared else stat.S_IRWXO | stat.S_IRWXG))
    except PermissionError:
        if problem := exposure(root):
            raise CourseError(f"nothing was made: {problem}") from None


def exposure(root: Path) -> str:
    """How other accounts get at what a course keeps from students, with the remedy; "" if they do not."""
    root = root.resolve()
    if os.name != "posix" or not all(folder.stat().st_mode & stat.S_IXOTH for folder in root.parents):
        return ""
    exposed = [root] if _open_to_others(root) else []
    if root.stat().st_mode & stat.S_IRWXO == stat.S_IXOTH:  # lets others pass to a Python environment in it
        exposed = [path for name in KEPT for path in sorted(root.glob(name)) if _open_to_others(path)]
    if not exposed:
        return ""
    whose = "Run" if os.geteuid() in (0, root.stat().st_uid) else "Have its owner run"
    return (
        f"other accounts of this machine can open {root}, with its hidden tests and grades. "
        f"{whose} `chmod o= {shlex.join(map(str, exposed))}`"
    )


@contextmanager
def as_private_as(root: Path) -> Iterator[None]:
    """Give what is written within this block no more permissions than the course directory has."""
    before = os.umask(~root.stat().st_mode & 0o077)
    try:
        yield
    finally:
        os.umask(before)


def _open_to_others(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IRWXO)
