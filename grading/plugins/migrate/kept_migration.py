"""The backup that a migration makes of a course's lessons, so that it can be undone.

    before-migrating-…/
        source/, grader_tests/, .lessons-base/   the old lessons
        new/                                     the new version's lessons
        after/                                   the lessons that undoing takes away
        migration.json                           the record

It has no grades: to undo a migration, the course grades with the old graders again.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from course.models.write_file import write_file
from grading.coordinator.trial_course import TRIAL
from grading.course import Course
from grading.course_dir.lesson_base import FOLDER, write_lessons

from .merge_course import CourseMerge

PREFIX, RECORD, NEW, AFTER = "before-migrating-", "migration.json", "new", "after"
BEGUN, DONE, UNDONE = "begun", "done", "undone"


@dataclass
class KeptMigration:
    """A migration's backup.

    state  BEGUN while the course is changed or changed back, then DONE or UNDONE
    files  the paths that the migration writes or deletes
    """

    folder: Path
    state: str
    files: list[str]

    def move_to(self, state: str) -> None:
        """Record a new state."""
        self.state = state
        write_file(self.folder / RECORD, json.dumps({"state": state, "files": self.files}, indent=1) + "\n")


def kept_migrations(course: Course) -> list[KeptMigration]:
    """All recorded migrations of a course, oldest first."""
    records = sorted(course.root.glob(f"{PREFIX}*/{RECORD}"))
    return [KeptMigration(path.parent, **json.loads(path.read_text(encoding="utf-8"))) for path in records]


def keep_before(course: Course, merge: CourseMerge) -> KeptMigration:
    """Keep a copy of the lessons, and the new ones, before the course changes."""
    folder = course.root / f"{PREFIX}{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    work = _write(course.root, {"": merge.ours, NEW: merge.theirs})
    if (course.root / FOLDER).is_dir():
        shutil.copytree(course.root / FOLDER, work / FOLDER)
    KeptMigration(work, "", list(merge.files)).move_to(BEGUN)
    work.rename(folder)  # it is complete before anything in the course changes
    return KeptMigration(folder, BEGUN, list(merge.files))


def keep_after(kept: KeptMigration, merge: CourseMerge) -> KeptMigration:
    """Keep a copy of the lessons before undoing changes them: the first copy, if undoing was interrupted."""
    if not (kept.folder / AFTER).exists():
        _write(kept.folder.parent, {"": merge.ours}).rename(kept.folder / AFTER)
    kept.move_to(BEGUN)
    return kept


def _write(beside: Path, trees: Mapping[str, Mapping[str, str]]) -> Path:
    """Write lessons into a new folder, which the next trial removes if a process is killed."""
    work = Path(tempfile.mkdtemp(prefix=TRIAL, dir=beside))
    for name, tree in trees.items():
        write_lessons(work / name, tree)
    return work
