"""The lessons that a course began with, as the base of a three-way merge.

A new version of the lessons and the teacher's own are both compared with this base. `grading init` keeps it in a folder
of the course.

Does not cover: merging (`authoring.merge_lessons`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from course.models.write_file import write_file

FOLDER = ".lessons-base"  # in the course directory; contains solutions, as source/ does
PARTS = ("source", "grader_tests")
ENDINGS = (".py", ".toml")  # endings of lesson files; all other files are derived from them
ABOUT = (
    "The lessons that this course began with, or those of the new version that the last `grading "
    "migrate` brought.\n`grading migrate` compares your lessons with them to find your changes. "
    "Do not edit them. They contain solutions.\n"
)


def read_lessons(root: Path) -> dict[str, str]:
    """The files of a course's lessons and graders, by their paths in it; bytes that are not text are kept."""
    paths = [*sorted(root.glob("source/*.py")), *sorted((root / "grader_tests").rglob("*"))]
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode("utf-8", "surrogateescape")
        for path in paths
        if path.suffix in ENDINGS and path.is_file() and not _is_hidden(path.relative_to(root))
    }


def write_lessons(root: Path, files: Mapping[str, str | None]) -> None:
    """Write lesson files, each one completely or not at all.

    None deletes a file, and its folder if nothing else is left there.
    """
    for name, text in files.items():
        path = root / name
        if text is None:
            path.unlink(missing_ok=True)
            _remove_empty(path.parent, root)
            continue
        write_file(path, text.encode("utf-8", "surrogateescape"))


def keep_base(root: Path, files: Mapping[str, str]) -> None:
    """Keep these lessons as the base of the course.

    An earlier base stays until the new one is complete.
    """
    new, old = root / f"{FOLDER}.new", root / f"{FOLDER}.old"
    if old.exists() and not (root / FOLDER).exists():  # a process was killed between the two renames below
        old.rename(root / FOLDER)
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    write_lessons(new, files)
    new.mkdir(exist_ok=True)
    (new / "README.txt").write_text(ABOUT, encoding="utf-8")
    if (root / FOLDER).exists():
        (root / FOLDER).rename(old)
    new.rename(root / FOLDER)
    shutil.rmtree(old, ignore_errors=True)


def kept_base(root: Path) -> dict[str, str] | None:
    """The lessons that the course began with; None if the course keeps no base."""
    found = next((root / name for name in (FOLDER, f"{FOLDER}.old") if (root / name).is_dir()), None)
    return None if found is None else read_lessons(found)


def _is_hidden(path: Path) -> bool:
    """Whether it is a hidden file, such as a copy in Jupyter's checkpoints."""
    return any(part.startswith(".") for part in path.parts)


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove a folder, and its parents, if only caches are left in it."""
    while folder != root and folder.parent != root and not list(_content(folder)):
        shutil.rmtree(folder, ignore_errors=True)
        folder = folder.parent


def _content(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
