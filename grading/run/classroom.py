"""Steps over a class, with progress shown: release, grade, feedback, and the demonstration that does them all.

One broken submission is told and never stops the rest; what is graded already is not graded again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..build import build_lesson, lessons
from ..report import shortened
from ..sample import hand_in, sample_class
from ..sandbox import require
from .nbgrader import GradingError, autograde, configuration, feedback, handed_in, knows, release

Step = Callable[[Path, str, str], bool]


def release_lessons(root: Path, names: Iterable[str], console: Console) -> None:
    """Build and release lessons. Raises GradingError, BuildError."""
    for name in lessons(root, names):
        build_lesson(root, name)
        built, released = (root / step / name / f"{name}.ipynb" for step in ("source", "release"))
        newer = released.exists() and released.stat().st_mtime_ns > built.stat().st_mtime_ns
        if newer and knows(root, name):
            console.print(f"{name}: release is up to date")
            continue
        release(root, name)
        console.print(f"{name}: released to {released.relative_to(root)}")


def grade_class(
    root: Path, names: Iterable[str], console: Console, *, again: bool = False, unsandboxed: bool = False
) -> int:
    """Autograde what was handed in; returns how many submissions could not be graded.

    Raises SandboxUnavailable, and grades nothing, where this machine cannot confine student code; unless `unsandboxed`
    or the course's configuration says to do without.
    """
    if configuration(root, unsandboxed=unsandboxed).JudgedExecute.get("unsandboxed", False):
        console.print("Without the sandbox: student code can do all that you can. Every grade is marked so.")
    else:
        require()

    def one(root: Path, lesson: str, student: str) -> bool:
        return autograde(root, lesson, student, again=again, config=configuration(root, unsandboxed=unsandboxed))

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
    columns = (
        TextColumn("{task.description:<40}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        for name in lessons(root, names):
            students = handed_in(root, name, step)
            if students and not knows(root, name):
                failed += [f"{name} is not released yet, so nothing of it can be {done}: run `make release`"]
                continue
            task = progress.add_task(f"{name}: {done}", total=len(students))
            begun, new, wrong = time.monotonic(), 0, len(failed)
            for student in students:
                progress.update(task, description=f"{name}: {shortened(student)}")
                try:
                    new += act(root, name, student)
                except GradingError as error:
                    failed.append(str(error))
                progress.advance(task)
            each = f", {(time.monotonic() - begun) / new:.1f} s each" if new else ""
            progress.update(task, description=f"{name}: {new} {done}{each}")
            if before := len(students) - new - (len(failed) - wrong):
                console.print(f"{name}: {before} {done} before, and not changed since")
    for message in failed:
        console.print(Text.assemble(("✗ ", "red"), message), soft_wrap=True)
    return len(failed)
