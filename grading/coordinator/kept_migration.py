"""The copy of a course that a migration keeps, so that it can be finished after a kill, and undone.

    before-migrating-…/
        source/, grader_tests/, .lessons-base/   the old lessons
        new/                                     the new version's lessons
        merged/, next-base/                      files that the migration writes, and the next base
        autograded/STUDENT/LESSON/               graded notebooks that it replaces, and their grade inputs
        migration.json                           the record, with the state

One rename creates the complete folder before anything in the course changes.

Does not cover: the steps of a migration (`migrate_lessons`) and of undoing one (`undo_migration`).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ..course_dir.lesson_base import FOLDER, read_lessons, write_lessons
from ..errors import StepFailed
from ..gradebook.grade_inputs import digest_of_file
from ..gradebook.store import stored_grades
from .nbgrader_api import is_registered, open_gradebook
from .trial_course import TRIAL

PREFIX = "before-migrating-"
RECORD, MADE_OF = "migration.json", "made-of.json"
BEGUN, DONE, UNDOING, UNDONE = "begun", "done", "undoing", "undone"
HOW_TO_GO_ON = "Run `grading migrate --resume` to finish it, or `grading migrate --undo` to undo it."
NEW, MERGED, NEXT_BASE = "new", "merged", "next-base"  # folders in it


@dataclass(frozen=True)
class KeptGrade:
    """A grade that a migration replaces: its inputs and the text of its notebook."""

    student: str
    lesson: str
    made_of: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class KeptMigration:
    """The record of a migration.

    state    BEGUN until the course is complete again, then DONE; UNDOING while it is undone, then UNDONE
    written  files that it writes
    gone     files that it deletes
    release  lessons to release again if they were released before
    added    lessons that the new version adds
    """

    folder: Path
    state: str
    written: list[str]
    gone: list[str]
    release: list[str]
    added: list[str]

    @property
    def files(self) -> dict[str, str | None]:
        """Files that the migration writes: the text of each file, None for one that goes."""
        merged = read_lessons(self.folder / MERGED)
        return {**{path: merged[path] for path in self.written}, **dict.fromkeys(self.gone)}

    def grades_of(self, lesson: str) -> Iterator[KeptGrade]:
        """The replaced grades of a lesson, except those of students forgotten since then."""
        for file in sorted(self.folder.glob(f"autograded/*/{lesson}/{MADE_OF}")):
            student = file.parent.parent.name
            notebook = file.with_name(f"{lesson}.ipynb").read_text(encoding="utf-8")
            yield KeptGrade(student, lesson, json.loads(file.read_text(encoding="utf-8")), notebook)

    def moved_to(self, state: str) -> KeptMigration:
        """Record the new state."""
        moved = replace(self, state=state)
        moved.save()
        return moved

    def save(self) -> None:
        about = asdict(self)
        del about["folder"]
        new = self.folder / f"{RECORD}.new"
        new.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        os.replace(new, self.folder / RECORD)


def kept_migrations(root: Path) -> list[KeptMigration]:
    """All recorded migrations of a course, oldest first.

    Folders of version 0.1 have no record and are left out.
    """
    records = sorted(root.glob(f"{PREFIX}*/{RECORD}"))
    return [KeptMigration(path.parent, **json.loads(path.read_text(encoding="utf-8"))) for path in records]


def demand_finished(root: Path) -> None:
    """Raise StepFailed if a migration or its undoing was interrupted."""
    for kept in kept_migrations(root):
        if kept.state == BEGUN:
            raise StepFailed(
                f"a migration was interrupted, and {kept.folder.name}/ has the data to finish it. {HOW_TO_GO_ON}"
            )
        if kept.state == UNDOING:
            raise StepFailed("undoing a migration was interrupted: run `grading migrate --undo` to finish")


def keep_before(
    root: Path,
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    next_base: Mapping[str, str],
    files: Mapping[str, str | None],
    lessons: tuple[list[str], list[str]],
    regraded: Iterable[tuple[str, str]],
) -> KeptMigration:
    """Keep a copy of the course before it changes.

    files     text by path of the files to write; None for a deleted one
    lessons   those to release again, and those that are new
    regraded  (student, lesson) of the grades that will be replaced
    """
    work = Path(tempfile.mkdtemp(prefix=TRIAL, dir=root))
    for name, tree in (("", ours), (NEW, theirs), (NEXT_BASE, next_base)):
        write_lessons(work / name, tree)
    write_lessons(work / MERGED, {path: text for path, text in files.items() if text is not None})
    if (root / FOLDER).is_dir():
        shutil.copytree(root / FOLDER, work / FOLDER)
    written, gone = ([path for path, text in files.items() if (text is None) is none] for none in (False, True))
    folder = root / f"{PREFIX}{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    kept = KeptMigration(work, BEGUN, written, gone, *lessons)
    _keep_grades(root, work, set(regraded))
    kept.save()
    (work / ".gitignore").write_text("*\n", encoding="utf-8")  # it contains student work
    work.rename(folder)
    return replace(kept, folder=folder)


def _keep_grades(root: Path, into: Path, wanted: set[tuple[str, str]]) -> None:
    """Copy graded notebooks with the inputs of their grades.

    Skips a notebook that was changed after grading, since its grade cannot be restored.
    """
    if not any(is_registered(root, lesson) for _, lesson in wanted):
        return
    with open_gradebook(root) as gradebook:
        for stored in stored_grades(gradebook):
            place = Path("autograded") / stored.student / stored.lesson
            file = root / place / f"{stored.lesson}.ipynb"
            if (stored.student, stored.lesson) in wanted and digest_of_file(file) == stored.digest:
                (into / place).mkdir(parents=True)
                shutil.copyfile(file, into / place / file.name)
                (into / place / MADE_OF).write_text(json.dumps(dict(stored.made_of)), encoding="utf-8")
