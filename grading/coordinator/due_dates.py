"""Copy due dates from course.toml into the gradebook, where nbgrader reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..course_dir.course_file import load_course_file
from ..course_dir.course_time import shown, zone_of
from ..course_dir.lessons import COURSE_FILE
from .nbgrader_api import configuration, has_gradebook, is_registered, open_gradebook


def due_dates(root: Path) -> dict[str, datetime]:
    """The due dates in the gradebook, in UTC without a time zone."""
    if not has_gradebook(root):
        return {}
    with open_gradebook(root) as gradebook:
        return {assignment.name: assignment.duedate for assignment in gradebook.assignments if assignment.duedate}


@contextmanager
def due_dates_tried(root: Path, lessons: Iterable[str]) -> Iterator[Callable[[], None]]:
    """Set the new due dates for a block, so that it sees their late penalties.

    Restores the old dates afterwards unless the block calls `keep`.
    """
    before, kept = due_dates(root), list[bool]()
    changed = [line.partition(":")[0] for line in set_due_dates(root, lessons)]
    try:
        yield lambda: kept.append(True)
    finally:
        if changed and not kept:
            with open_gradebook(root) as gradebook:
                for lesson in changed:
                    gradebook.update_or_create_assignment(lesson, duedate=before.get(lesson))


def set_due_dates(root: Path, lessons: Iterable[str]) -> Iterator[str]:
    """Set the due dates of released lessons from course.toml.

    Yields one line per change.
    """
    course = load_course_file(root)
    wanted = {lesson: due for lesson in lessons if (due := course.due(lesson)) and is_registered(root, lesson)}
    if not wanted:
        return
    zone = zone_of(configuration(root))
    with open_gradebook(root) as gradebook:
        for lesson, due in wanted.items():
            naive, assignment = due.astimezone(UTC).replace(tzinfo=None), gradebook.find_assignment(lesson)
            if assignment.duedate != naive:
                gradebook.update_or_create_assignment(lesson, duedate=naive)
                yield f"{lesson}: due {shown(naive, zone)} ({COURSE_FILE})"
