"""Release lessons: build each, then make its student notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from rich.console import Console

from ..course_dir.course_file import load_course_file
from ..course_dir.lessons import MUSEUM, is_ordinary, list_lessons
from ..stopped import tell_if_stopped
from .due_dates import set_due_dates
from .nbgrader_api import is_registered, release


def release_lessons(root: Path, names: Iterable[str], console: Console, *, again: bool = False) -> dict[str, bool]:
    """Build and release lessons one after the other, then the notebook without points; which are released again.

    again  release even what is up to date

    Raises StepFailed, CourseError.
    """
    from ..authoring.build import build_lesson, build_museum  # import torch; to grade, only judges need it

    wanted = list_lessons(root, names, ordinary=True)
    released: dict[str, bool] = {}

    def kept() -> str:
        return f"{len(released)} of {len(wanted)} lessons are released; run the same command again to continue."

    with tell_if_stopped(kept):
        for name in wanted:
            if not is_ordinary(root, name):
                build_lesson(root, name)
            released[name] = _release_built(root, name, console, again)
        for line in set_due_dates(root, wanted):
            console.print(line)
    if build_museum(root):
        console.print(f"{MUSEUM}: written as release/{MUSEUM}/{MUSEUM}.ipynb")
    return released


def _release_built(root: Path, name: str, console: Console, again: bool) -> bool:
    """Release a built lesson unless it is up to date; returns whether it did."""
    from ..authoring.student_repo import is_released  # imports torch

    if not again and is_released(root, name) and is_registered(root, name):
        console.print(f"{name}: release is up to date")
        return False
    release(root, name)
    console.print(f"{name}: released as release/{name}/{name}.ipynb")
    for line in _still_named(root, name):
        console.print(line)
    return True


def _still_named(root: Path, name: str) -> Iterator[str]:
    """Sentences on where a lesson's text names exercises that the course leaves out.

    The teacher may want to edit these places.
    """
    left_out = () if is_ordinary(root, name) else sorted(load_course_file(root).change(name).left_out)
    if not left_out:
        return
    from ..authoring.adapt_notebook import still_named

    notebook = nbformat.read(root / "release" / name / f"{name}.ipynb", as_version=4)
    for exercise in left_out:
        if places := still_named(notebook, exercise):
            listed = ", ".join(f"“{place}”" for place in places)
            yield f"{name}: the text still mentions {exercise}, in {listed}. Edit source/{name}.py if that misleads."
