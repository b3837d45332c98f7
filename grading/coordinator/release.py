"""Release lessons: build them in parallel, then make student notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from ..course_dir.paths import is_ordinary, list_lessons
from ..cpu_count import cpu_count
from ..stopped import tell_if_stopped
from .executors import pool
from .nbgrader_api import is_registered, release


def release_lessons(root: Path, names: Iterable[str], console: Console, *, workers: int = 0) -> dict[str, bool]:
    """Build lessons, `workers` at a time (default: one per processor), and release them; which are released anew.

    Releases one lesson after the other, since only one may write the gradebook. Raises StepFailed, CourseError.
    """
    from ..authoring.build import build_lesson  # it imports torch, which only judges need for grading

    wanted = list_lessons(root, names, ordinary=True)
    released: dict[str, bool] = {}

    def kept() -> str:
        return f"{len(released)} of {len(wanted)} lessons are released; run the same command again to go on."

    with tell_if_stopped(kept), pool(workers or cpu_count()) as executor:
        building = {name: executor.submit(build_lesson, root, name) for name in wanted if not is_ordinary(root, name)}
        for name in wanted:
            if name in building:
                building[name].result()
            released[name] = _release_built(root, name, console)
    return released


def _release_built(root: Path, name: str, console: Console) -> bool:
    """Release a lesson that is built, if it is not up to date; returns whether it did."""
    built, released = (root / step / name / f"{name}.ipynb" for step in ("source", "release"))
    newer = released.exists() and released.stat().st_mtime_ns > built.stat().st_mtime_ns
    if newer and is_registered(root, name):
        console.print(f"{name}: release is up to date")
        return False
    release(root, name)
    console.print(f"{name}: released to {released.relative_to(root)}")
    return True
