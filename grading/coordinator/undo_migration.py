"""Undo a migration: restore the old lessons, their releases and grades.

A lesson in which something was handed in with other exercises since then stays as it is; so does one that the new
version added, once it is released. The present state of the course is kept in the migration's folder before it goes.

Does not cover: the folder (`kept_migration`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from ..authoring.lesson_cells import read_cells
from ..authoring.lesson_pieces import SHARED
from ..authoring.merge_lessons import part_of
from ..course_dir.lesson_base import FOLDER, keep_base, kept_base, read_lessons, write_lessons
from ..course_dir.lessons import list_lessons
from ..errors import StepFailed, SubmissionNotGraded
from ..gradebook.lock import exclusive
from ..nbgrader_plugins.execute import lesson_freshness
from .gradebook_writer import Writer
from .kept_migration import BEGUN, DONE, UNDOING, UNDONE, KeptGrade, KeptMigration, kept_migrations
from .nbgrader_api import configuration, hand_ins, is_registered
from .recalculate import recalculate
from .release import release_lessons
from .submission import GradedNotebook
from .trial_course import clear_trials, failed_builds, trial_lessons

AFTER = "after"  # folder in the migration's folder, for the lessons that undoing takes away


@dataclass(frozen=True)
class Undoing:
    """Changes that undoing a migration makes. `files`: text by path, None for one that goes; `stays`: why a lesson, or
    what is shared, stays as it is; `edited`: files that were changed since, whose text is kept in `after/`; `release`:
    lessons to release again."""

    kept: KeptMigration
    files: dict[str, str | None]
    stays: dict[str, str]
    edited: list[str]
    release: list[str]


@dataclass
class Undone:
    """The grades after a migration was undone.

    restored  (lesson, student) of the old grades
    again     number of submissions graded again, because the old grade was missing or something else was handed in
    """

    plan: Undoing
    restored: list[tuple[str, str]] = field(default_factory=list)
    again: int = 0


def undo(root: Path, agreed: Callable[[Undoing], bool], console: Console, *, workers: int = 1) -> Undone | None:
    """Undo the last migration, or finish undoing it.

    Returns None if the caller did not agree. Raises StepFailed if there is none, and whatever `recalculate` raises.
    """
    clear_trials(root)
    found = [kept for kept in kept_migrations(root) if kept.state != UNDONE]
    if not found:
        raise StepFailed("there is no migration to undo: no folder before-migrating-…/ has a record of one")
    plan = _plan(root, found[-1])
    if not agreed(plan):
        return None
    with exclusive(root):
        kept = plan.kept
        if kept.state in (BEGUN, DONE):
            shutil.rmtree(kept.folder / AFTER, ignore_errors=True)
            write_lessons(kept.folder / AFTER, read_lessons(root))
            kept = kept.moved_to(UNDOING)
        write_lessons(root, plan.files)
        _restore_base(root, plan)
        if plan.release:
            release_lessons(root, plan.release, console, again=True)
        done = _restore_grades(root, plan, workers)
        kept.moved_to(UNDONE)
    return done


def _plan(root: Path, kept: KeptMigration) -> Undoing:
    before, now = read_lessons(kept.folder), read_lessons(root)
    after = read_lessons(kept.folder / AFTER) if kept.state == UNDOING else now
    files = {path: before.get(path) for path in kept.files}
    stays = dict(_unfit(root, kept, before, after))
    while True:
        some = {path: text for path, text in files.items() if lesson_of(path) not in stays}
        outcome = {path: text for path, text in {**now, **some}.items() if text is not None}
        with trial_lessons(root, outcome) as course:
            changed = {lesson_of(path) for path in some} - {SHARED}
            failed = failed_builds(course, [name for name in sorted(changed) if f"source/{name}.py" in outcome])
            if any(lesson_of(path) == SHARED for path in some) and (broken := failed_builds(course, stays)):
                failed[SHARED] = next(iter(broken.values()))
        if not set(failed) - set(stays):
            break
        stays |= {name: f"its earlier version could not be built: {why}" for name, why in failed.items()}
    edited = [path for path, text in kept.files.items() if path in some and after.get(path) not in (text, some[path])]
    release = [name for name in kept.release if name not in stays and f"source/{name}.py" in outcome]
    return Undoing(kept, some, stays, edited, [name for name in release if is_registered(root, name)])


def lesson_of(path: str) -> str:
    """The lesson, or `shared`, that a file belongs to."""
    return path.split("/")[1].removesuffix(".py")


def _unfit(root: Path, kept: KeptMigration, before: dict[str, str], now: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Lessons that cannot be restored, and why."""
    for name in dict.fromkeys(lesson_of(path) for path in kept.files):
        text = f"source/{name}.py"
        if name in kept.added and (hand_ins(root, name) or is_registered(root, name)):
            yield name, "it has been released since the migration"
        elif text in before and text in now and hand_ins(root, name):
            cells = [{cell.grade_id for cell in read_cells(tree[text])} for tree in (before, now)]
            if cells[0] != cells[1]:
                yield name, "students have handed it in since the migration, and its exercises were different before"


def _restore_base(root: Path, plan: Undoing) -> None:
    """Restore the old base, except for lessons that stay as they are."""
    before, now = kept_base(plan.kept.folder), kept_base(root) or {}
    staying = {path: text for name in plan.stays for path, text in part_of(now, name).items()}
    if before is not None or staying:
        rest = {path: text for path, text in (before or {}).items() if lesson_of(path) not in plan.stays}
        keep_base(root, {**rest, **staying})
    else:
        shutil.rmtree(root / FOLDER, ignore_errors=True)


def _restore_grades(root: Path, plan: Undoing, workers: int) -> Undone:
    """Restore the kept grades, and grade again where none of them fits."""
    done, config = Undone(plan), configuration(root)
    for lesson in list_lessons(root):
        if lesson in plan.stays or not is_registered(root, lesson):
            continue
        standing = lesson_freshness(CourseDirectory(config=config), config, lesson)
        with Writer(standing.coursedir, config, standing) as writer:
            for grade in plan.kept.grades_of(lesson):
                if _fits(standing.made_of(grade.student), grade):
                    try:
                        writer.write(GradedNotebook(grade.student, grade.text, frozenset()), grade.made_of)
                    except (SubmissionNotGraded, OSError, SQLAlchemyError):
                        continue  # it is graded again below
                    done.restored.append((lesson, grade.student))
        left = set(standing.grades) - {student for name, student in done.restored if name == lesson}
        if lesson in plan.release and left:
            done.again += recalculate(root, [lesson], lambda _: True, students=left, workers=workers)
    return done


def _fits(now: dict[str, str], grade: KeptGrade) -> bool:
    """Whether a kept grade belongs to the current submission."""
    return all(grade.made_of.get(key) == now[key] for key in ("submission", "timestamp"))
