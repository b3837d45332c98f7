"""Copy due dates from course.toml into the gradebook, where nbgrader reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from ..course import Course
from ..course_dir.course_time import shown
from ..course_dir.lessons import COURSE_FILE


def due_dates(course: Course) -> dict[str, datetime]:
    """The due dates in the gradebook, in UTC without a time zone."""
    if not course.has_gradebook:
        return {}
    with course.gradebook() as gradebook:
        return {assignment.name: assignment.duedate for assignment in gradebook.assignments if assignment.duedate}


@contextmanager
def due_dates_tried(course: Course, lessons: Iterable[str]) -> Iterator[Callable[[], None]]:
    """Set the new due dates for a block, so that it sees their late penalties.

    Restores the old dates afterwards unless the block calls `keep`.
    """
    before, kept = due_dates(course), list[bool]()
    changed = [line.partition(":")[0] for line in set_due_dates(course, lessons)]
    try:
        yield lambda: kept.append(True)
    finally:
        if changed and not kept:
            with course.gradebook() as gradebook:
                for lesson in changed:
                    gradebook.update_or_create_assignment(lesson, duedate=before.get(lesson))


def set_due_dates(course: Course, lessons: Iterable[str]) -> Iterator[str]:
    """Set the due dates of released lessons from course.toml.

    Yields one line per change.
    """
    wanted = {lesson: due for lesson in lessons if (due := course.toml.due(lesson)) and course.is_registered(lesson)}
    if not wanted:
        return
    with course.gradebook() as gradebook:
        for lesson, due in wanted.items():
            naive, assignment = due.astimezone(UTC).replace(tzinfo=None), gradebook.find_assignment(lesson)
            if assignment.duedate != naive:
                gradebook.update_or_create_assignment(lesson, duedate=naive)
                yield f"{lesson}: due {shown(naive, course.zone)} ({COURSE_FILE})"
