"""Release lessons: build each, then make its student notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import nbformat
from rich.console import Console

from ..course import Course
from ..course_dir.lessons import MUSEUM, is_ordinary
from ..stopped import tell_if_stopped
from .converters import generate_assignment
from .due_dates import set_due_dates


def release_lessons(course: Course, names: Iterable[str], console: Console, *, again: bool = False) -> dict[str, bool]:
    """Build and release lessons one after the other, then the notebook without points; which are released again.

    again  release even what is up to date

    Raises StepFailed, CourseError.
    """
    from ..authoring.build import build_lesson, build_museum  # import torch; to grade, only judges need it

    wanted = course.lessons(names)
    released: dict[str, bool] = {}

    def kept() -> str:
        return f"{len(released)} of {len(wanted)} lessons are released; run the same command again to continue."

    with tell_if_stopped(kept):
        for name in wanted:
            if not is_ordinary(course.root, name):
                build_lesson(course.root, name)
            released[name] = _release_built(course, name, console, again)
        for line in set_due_dates(course, wanted):
            console.print(line)
    if build_museum(course.root):
        console.print(f"{MUSEUM}: written as release/{MUSEUM}/{MUSEUM}.ipynb")
    return released


def _release_built(course: Course, name: str, console: Console, again: bool) -> bool:
    """Release a built lesson unless it is up to date; returns whether it did."""
    from ..authoring.student_repo import is_released  # imports torch

    if not again and is_released(course.root, name) and course.is_registered(name):
        console.print(f"{name}: release is up to date")
        return False
    generate_assignment(course, name)
    console.print(f"{name}: released as release/{name}/{name}.ipynb")
    for line in _still_named(course, name):
        console.print(line)
    return True


def _still_named(course: Course, name: str) -> Iterator[str]:
    """Sentences on where a lesson's text names exercises that the course leaves out.

    The teacher may want to edit these places.
    """
    left_out = () if is_ordinary(course.root, name) else sorted(course.toml.change(name).left_out)
    if not left_out:
        return
    from ..authoring.adapt_notebook import still_named

    notebook = nbformat.read(course.root / "release" / name / f"{name}.ipynb", as_version=4)
    for exercise in left_out:
        if places := still_named(notebook, exercise):
            listed = ", ".join(f"“{place}”" for place in places)
            yield f"{name}: the text still mentions {exercise}, in {listed}. Edit source/{name}.py if that misleads."
