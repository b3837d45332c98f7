"""What a migration keeps of a course, so that it can be finished after a kill, and undone.

    before-migrating-…/
        source/, grader_tests/, .lessons-base/   the lessons of before
        new/                                     the new version's
        merged/, next-base/                      what the migration writes, and its base
        autograded/                              graded notebooks that it replaces
        migration.json                           how far it is, and what the replaced grades were made of

The folder appears whole, under one rename, before anything of the course changes.

Does not cover: the steps of a migration (`migrate_lessons`) and of undoing one (`undo_migration`).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ..course_dir.lesson_base import FOLDER, read_lessons, write_lessons
from ..errors import StepFailed
from ..gradebook.grade_inputs import digest_of_file
from ..gradebook.store import stored_grades
from .nbgrader_api import is_registered, open_gradebook
from .trial_course import TRIAL

PREFIX = "before-migrating-"
RECORD = "migration.json"
BEGUN, DONE, UNDOING, UNDONE = "begun", "done", "undoing", "undone"
NEW, MERGED, NEXT_BASE = "new", "merged", "next-base"  # folders in it


@dataclass(frozen=True)
class KeptGrade:
    """A grade that a migration replaces: what it was made of. Its notebook is in the folder's autograded/."""

    student: str
    lesson: str
    made_of: Mapping[str, str]


@dataclass(frozen=True)
class KeptMigration:
    """A migration's record.

    state    BEGUN until the course is whole again, then DONE; UNDOING until it is undone, then UNDONE
    written  files that it writes; gone: files that it removes
    release  lessons to release again, if they are released; added: lessons that the new version adds
    """

    folder: Path
    state: str
    written: list[str]
    gone: list[str]
    release: list[str]
    added: list[str]
    grades: list[KeptGrade] = field(default_factory=list)

    @property
    def files(self) -> dict[str, str | None]:
        """What the migration writes: the text of each file, None for one that goes."""
        merged = read_lessons(self.folder / MERGED)
        return {**{path: merged[path] for path in self.written}, **dict.fromkeys(self.gone)}

    def notebook(self, grade: KeptGrade) -> Path:
        return self.folder / "autograded" / grade.student / grade.lesson / f"{grade.lesson}.ipynb"

    def moved_to(self, state: str) -> KeptMigration:
        """Record how far it is."""
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
    """All of a course, the oldest first; folders of version 0.1, which have no record, are not among them."""
    found = []
    for path in sorted(root.glob(f"{PREFIX}*/{RECORD}")):
        about = json.loads(path.read_text(encoding="utf-8"))
        grades = [KeptGrade(**grade) for grade in about.pop("grades")]
        found.append(KeptMigration(path.parent, **about, grades=grades))
    return found


def demand_finished(root: Path) -> None:
    """Raise StepFailed if a migration or its undoing was interrupted."""
    for kept in kept_migrations(root):
        if kept.state == BEGUN:
            raise StepFailed(
                f"a migration was interrupted, and {kept.folder.name}/ has what is needed: `grading migrate --resume` "
                "finishes it, `grading migrate --undo` takes it back"
            )
        if kept.state == UNDOING:
            raise StepFailed("undoing a migration was interrupted: `grading migrate --undo` finishes it")


def keep_before(
    root: Path,
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    next_base: Mapping[str, str],
    files: Mapping[str, str | None],
    lessons: tuple[list[str], list[str]],
    regraded: Iterable[tuple[str, str]],
) -> KeptMigration:
    """Keep a course before it changes.

    files     what is to be written; lessons: to release again, and added
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
    kept = replace(kept, grades=_keep_grades(root, kept, set(regraded)))
    kept.save()
    (work / ".gitignore").write_text("*\n", encoding="utf-8")  # it holds what students handed in
    work.rename(folder)
    return replace(kept, folder=folder)


def _keep_grades(root: Path, kept: KeptMigration, wanted: set[tuple[str, str]]) -> list[KeptGrade]:
    """Copy the graded notebooks, and return what the grades are made of; a changed notebook cannot be brought back."""
    grades = []
    if wanted and any(is_registered(root, lesson) for _, lesson in wanted):
        with open_gradebook(root) as gradebook:
            for stored in stored_grades(gradebook):
                grade = KeptGrade(stored.student, stored.lesson, dict(stored.made_of))
                file = root / "autograded" / stored.student / stored.lesson / f"{stored.notebook}.ipynb"
                same = stored.notebook == stored.lesson and digest_of_file(file) == stored.digest
                if (stored.student, stored.lesson) in wanted and same:
                    kept.notebook(grade).parent.mkdir(parents=True)
                    shutil.copyfile(file, kept.notebook(grade))
                    grades.append(grade)
    return grades
