"""Move a course to a new version of its lessons in mid-term.

The new texts and graders are tried on a copy of the course, in which everything with a grade is graded again, to show
the changes. Only then does the course itself change; its old lessons are kept beside it.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Base, Gradebook
from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from sqlalchemy import create_engine, insert, select

from ..course_dir.lessons import list_lessons
from ..course_dir.paths import CONFIG
from ..course_dir.seeds import FILE
from ..errors import StepFailed
from ..notebooks.cells import grade_id
from .nbgrader_api import configuration, is_registered, open_gradebook
from .recalculate import GradeChange, recalculate
from .release import release_lessons

TRIAL = ".migrating-"  # prefix of the folder in the course directory with the copy
PARTS = ("source", "grader_tests")
AT_ONCE = 1000  # rows of the gradebook in memory at a time


@dataclass(frozen=True)
class Migration:
    """What a new version changes. `changed`: lessons with a new text or grader; `new`: added lessons; `own`: lessons
    that only the course has, which stay; `found`: changes of grades; `kept`: folder with the old texts and graders;
    `written`: number of grades written."""

    changed: list[str]
    new: list[str]
    own: list[str]
    found: list[GradeChange] = field(default_factory=list)
    kept: Path | None = None
    written: int = 0

    def lines(self) -> Iterator[str]:
        for what, names in (("changed", self.changed), ("new", self.new), ("not in it, and kept", self.own)):
            if names:
                yield f"{what}: {', '.join(names)}"


def migrate(
    root: Path, new: Path, agreed: Callable[[Migration], bool], console: Console, *, workers: int = 1
) -> Migration:
    """Move the course in `root` to the lessons and graders of the course in `new`.

    agreed  gets what would change, and returns whether to do it

    Raises StepFailed if that is impossible, and what `recalculate` raises; the course is then unchanged.
    """
    plan = _compare_versions(root, new)
    with _trial(root) as trial:
        _overlay(new, trial, plan)
        released = [name for name in plan.changed if is_registered(root, name)]
        _check_exercises(root, trial, released)
        release_lessons(trial, released, Console(quiet=True), workers=workers)
        found: list[GradeChange] = []

        def collect(changes: list[GradeChange]) -> bool:
            found.extend(changes)
            return False

        recalculate(trial, list_lessons(root), collect, workers=workers)
    plan = Migration(plan.changed, plan.new, plan.own, found)
    if not agreed(plan):
        return plan
    kept = root / f"before-migrating-{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    for part in PARTS:
        shutil.copytree(root / part, kept / part, ignore=shutil.ignore_patterns("__pycache__"))
    _overlay(new, root, plan)
    release_lessons(root, released, console, workers=workers)
    written = recalculate(root, list_lessons(root), lambda _: True, workers=workers)
    return Migration(plan.changed, plan.new, plan.own, found, kept, written)


def _compare_versions(root: Path, new: Path) -> Migration:
    ours, theirs = set(list_lessons(root)), set(list_lessons(new))
    if new.resolve() == root.resolve() or not theirs or not (new / "grader_tests").is_dir():
        raise StepFailed(
            f"{new} is no other course: name the directory of the new version, with its source/ and grader_tests/"
        )
    shared = not _same(root / "grader_tests" / "shared", new / "grader_tests" / "shared")
    both = sorted(ours & theirs)
    changed = [name for name in both if shared or not all(_same(*pair) for pair in _file_pairs(root, new, name))]
    return Migration(changed, sorted(theirs - ours), sorted(ours - theirs))


def _file_pairs(root: Path, new: Path, name: str) -> Iterator[tuple[Path, Path]]:
    for part, called in (("source", f"{name}.py"), ("grader_tests", name)):
        yield root / part / called, new / part / called


def _same(one: Path, other: Path) -> bool:
    """Whether two files or folders have the same content; two missing ones have."""
    if not one.is_dir() or not other.is_dir():
        return one.exists() == other.exists() and (not one.exists() or filecmp.cmp(one, other, shallow=False))
    names = {path.relative_to(place) for place in (one, other) for path in place.rglob("*") if _counts(path)}
    return all(_same(one / name, other / name) for name in names)


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


@contextmanager
def _trial(root: Path) -> Iterator[Path]:
    """Copy what grading needs of the course, its gradebook into an SQLite file."""
    for left in root.glob(f"{TRIAL}*"):  # of a killed process
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=TRIAL, dir=root) as folder:
        trial = Path(folder)
        for path in (*root.glob("*.py"), *root.glob(f"{FILE}*")):
            shutil.copy2(path, trial)
        with (trial / CONFIG).open("a", encoding="utf-8") as settings:
            settings.write(f"\nc.CourseDirectory.db_url = {_copy_gradebook(root, trial / 'gradebook.db')!r}\n")
        for part in (*PARTS, "release"):
            if (root / part).is_dir():
                shutil.copytree(root / part, trial / part, ignore=shutil.ignore_patterns("__pycache__"))
        for part in ("submitted", "autograded"):
            if (root / part).is_dir():
                shutil.copytree(root / part, trial / part, symlinks=True, copy_function=_link_or_copy)
        yield trial


def _copy_gradebook(root: Path, target: Path) -> str:
    """Write the course's gradebook to a file, table by table; returns the file's URL. Raises StepFailed."""
    engine = create_engine(f"sqlite:///{target}")
    Base.metadata.create_all(engine)
    with open_gradebook(root) as gradebook, engine.begin() as copy:
        for table in Base.metadata.sorted_tables:
            rows = gradebook.db.execute(select(table).execution_options(yield_per=AT_ONCE)).mappings()
            for some in rows.partitions():
                copy.execute(insert(table), [dict(row) for row in some])
    engine.dispose()
    return str(engine.url)


def _link_or_copy(source: str, target: str) -> None:
    """Hard-link a file if possible, since these are large and never written to."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


def _overlay(new: Path, root: Path, plan: Migration) -> None:
    """Copy the new version's texts and graders into a course."""
    for name in (*plan.changed, *plan.new):
        shutil.copy2(new / "source" / f"{name}.py", root / "source")
        _replace(new / "grader_tests" / name, root / "grader_tests" / name)
    if (new / "grader_tests" / "shared").is_dir():
        _replace(new / "grader_tests" / "shared", root / "grader_tests" / "shared")


def _replace(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))


def _check_exercises(root: Path, trial: Path, names: list[str]) -> None:
    """Raise StepFailed if the new version has other exercises than submissions have."""
    from ..authoring.lesson_text import read_lesson  # it imports torch

    directory = CourseDirectory(config=configuration(root))
    refused = []
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        for name in names:
            notebook = gradebook.find_notebook(name, name)
            there = {cell.name for cell in notebook.source_cells}
            cells = {grade_id(cell) for cell in read_lesson(trial / "source" / f"{name}.py").cells} - {""}
            if notebook.submissions and cells != there:
                refused.append(f"{name} ({', '.join(sorted(cells ^ there))})")
    if refused:
        raise StepFailed(
            f"nothing was migrated. The new version adds or removes exercises where something is handed in already: "
            f"{'; '.join(refused)}. Finish the term with the version that you have"
        )
