"""Restore files that a newer submission replaced."""

from __future__ import annotations

from ..course import Course
from ..errors import StepFailed
from ..gradebook.lock import exclusive
from ..submitted.replaced import Replaced, bring_back, list_replaced
from ..submitted.submitted_dir import submitted_folder


def restore(course: Course, student: str, lesson: str, at: str = "") -> Replaced:
    """Restore the files that were replaced last, or those replaced at a given time.

    `at`: a time from `list_replaced`. Raises StepFailed, CourseLocked.
    """
    with exclusive(course.root):
        found = list_replaced(course.root, student, lesson)
        if not found:
            raise StepFailed(f"no submission of {lesson} by {student} was replaced")
        chosen = [replaced for replaced in found if at in ("", replaced.at)]
        if not chosen:
            raise StepFailed(
                f"no submission was replaced at {at}. The times are {', '.join(replaced.at for replaced in found)}"
            )
        folder = submitted_folder(course.directory(), student, lesson)
        bring_back(course.root, folder.folder, chosen[0], folder.origin())
        return chosen[0]
