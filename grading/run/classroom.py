"""Steps over a class, with progress shown: release, grade, feedback, and the demonstration that does them all.

One broken submission is told and never stops the rest; what is graded already is not graded again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..build import build_lesson, lessons
from ..sample import hand_in, sample_class
from .nbgrader import GradingError, autograde, feedback, handed_in, knows, release

Step = Callable[[Path, str, str], bool]


def release_lessons(root: Path, names: Iterable[str], console: Console) -> None:
    """Build and release lessons. Raises GradingError, BuildError."""
    for name in names or lessons(root):
        changed = build_lesson(root, name)
        released = root / "release" / name / f"{name}.ipynb"
        if not changed and released.exists() and knows(root, name):
            console.print(f"{name}: release is up to date")
            continue
        release(root, name)
        console.print(f"{name}: released to {released.relative_to(root)}")


def grade_class(root: Path, names: Iterable[str], console: Console, *, again: bool = False) -> int:
    """Autograde what was handed in; returns how many submissions could not be graded."""

    def one(root: Path, lesson: str, student: str) -> bool:
        return autograde(root, lesson, student, again=again)

    return _over_the_class(root, names, console, "submitted", "graded", one)


def write_feedback(root: Path, names: Iterable[str], console: Console) -> int:
    """Feedback for all that is graded; returns how many could not be written."""
    return _over_the_class(root, names, console, "autograded", "feedback", feedback)


def demonstrate(root: Path, console: Console) -> int:
    """The whole road for a sample class: release, hand in, grade, feedback. Returns how many steps failed."""
    names = lessons(root)
    release_lessons(root, names, console)
    for name in names:
        new = [student for student, notebook in sample_class(root, name) if hand_in(root, name, student, notebook)]
        console.print(f"{name}: {len(new)} sample submissions handed in" if new else f"{name}: sample class reused")
    return grade_class(root, names, console) + write_feedback(root, names, console)


def _over_the_class(root: Path, names: Iterable[str], console: Console, step: str, done: str, act: Step) -> int:
    failed: list[str] = []
    columns = TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        for name in names or lessons(root):
            students = handed_in(root, name, step)
            task = progress.add_task(f"{name}: {done}", total=len(students))
            begun, new = time.monotonic(), 0
            for student in students:
                progress.update(task, description=f"{name}: {student}")
                try:
                    new += act(root, name, student)
                except GradingError as error:
                    failed.append(str(error))
                progress.advance(task)
            each = f", {(time.monotonic() - begun) / new:.1f} s each" if new else ""
            progress.update(task, description=f"{name}: {new} {done}{each}")
            if len(students) > new:
                console.print(f"{name}: {len(students) - new} {done} before, and not changed since")
    for message in failed:
        console.print(f"[red]✗[/red] {message}")
    return len(failed)
