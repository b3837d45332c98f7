"""A course moved to a new version of its lessons in mid-term: first what that changes for grades given, then done.

The new texts and graders are tried on a copy of the course, in which everything that has a grade is judged anew; the
course itself is touched after that only, and what its lessons were is kept beside it.
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

from ..course_dir.paths import CONFIG, list_lessons
from ..course_dir.seeds import FILE
from ..errors import StepFailed
from ..notebooks.cells import grade_id
from .nbgrader_api import configuration, is_registered, open_gradebook
from .recalculate import GradeChange, recalculate
from .release import release_lessons

TRIAL = ".migrating-"  # a folder in the course's directory: the copy that the new version is tried on
PARTS = ("source", "grader_tests")
AT_ONCE = 1000  # rows of the gradebook in memory


@dataclass(frozen=True)
class Migration:
    """What a new version brings. changed: lessons with another text or grader; new: that there were not; own: that the
    new version does not have, and which stay; kept: where the old texts and graders are kept; found: what becomes of
    grades; written: how many are."""

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

    agreed  is shown what changes, and says whether it is to be done

    Raises StepFailed where that cannot be done, and as `revise` does. Nothing in the course is changed then.
    """
    plan = _compared(root, new)
    with _trial(root) as trial:
        _overlay(new, trial, plan)
        released = [name for name in plan.changed if is_registered(root, name)]
        _hold_cells(root, trial, released)
        release_lessons(trial, released, Console(quiet=True), workers=workers)
        found: list[GradeChange] = []

        def only_shown(all_of_them: list[GradeChange]) -> bool:
            found.extend(all_of_them)
            return False

        recalculate(trial, list_lessons(root), only_shown, workers=workers)
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


def _compared(root: Path, new: Path) -> Migration:
    ours, theirs = set(list_lessons(root)), set(list_lessons(new))
    if new.resolve() == root.resolve() or not theirs or not (new / "grader_tests").is_dir():
        raise StepFailed(
            f"{new} is no other course: name the directory of the new version, with its source/ and grader_tests/"
        )
    shared = not _same(root / "grader_tests" / "shared", new / "grader_tests" / "shared")
    both = sorted(ours & theirs)
    changed = [name for name in both if shared or not all(_same(*two) for two in _two(root, new, name))]
    return Migration(changed, sorted(theirs - ours), sorted(ours - theirs))


def _two(root: Path, new: Path, name: str) -> Iterator[tuple[Path, Path]]:
    for part, called in (("source", f"{name}.py"), ("grader_tests", name)):
        yield root / part / called, new / part / called


def _same(one: Path, other: Path) -> bool:
    """Whether two files, or the texts in two folders, are the same; neither being there is the same."""
    if not one.is_dir() or not other.is_dir():
        return one.exists() == other.exists() and (not one.exists() or filecmp.cmp(one, other, shallow=False))
    names = {path.relative_to(place) for place in (one, other) for path in place.rglob("*") if _counts(path)}
    return all(_same(one / name, other / name) for name in names)


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


@contextmanager
def _trial(root: Path) -> Iterator[Path]:
    """A copy of the course as far as grades are made of it; its gradebook is a file, whatever the course's own is."""
    for left in root.glob(f"{TRIAL}*"):  # by one that was killed
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=TRIAL, dir=root) as made:
        trial = Path(made)
        for path in (*root.glob("*.py"), *root.glob(f"{FILE}*")):
            shutil.copy2(path, trial)
        with (trial / CONFIG).open("a", encoding="utf-8") as settings:
            settings.write(f"\nc.CourseDirectory.db_url = {_copy_gradebook(root, trial / 'gradebook.db')!r}\n")
        for part in (*PARTS, "release"):
            if (root / part).is_dir():
                shutil.copytree(root / part, trial / part, ignore=shutil.ignore_patterns("__pycache__"))
        for part in ("submitted", "autograded"):
            if (root / part).is_dir():
                shutil.copytree(root / part, trial / part, symlinks=True, copy_function=_linked)
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


def _linked(source: str, target: str) -> None:
    """Large, and not written to: one file under two names where that can be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


def _overlay(new: Path, root: Path, plan: Migration) -> None:
    """Put the new version's texts and graders into a course."""
    for name in (*plan.changed, *plan.new):
        shutil.copy2(new / "source" / f"{name}.py", root / "source")
        _replace(new / "grader_tests" / name, root / "grader_tests" / name)
    if (new / "grader_tests" / "shared").is_dir():
        _replace(new / "grader_tests" / "shared", root / "grader_tests" / "shared")


def _replace(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))


def _hold_cells(root: Path, trial: Path, names: list[str]) -> None:
    """Raise StepFailed where the new version has other exercises than what is handed in."""
    from ..authoring.lesson_text import read_lesson  # it brings torch

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
