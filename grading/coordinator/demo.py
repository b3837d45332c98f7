"""Run a whole term for a sample class."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..course_dir.lessons import list_lessons
from .demo_class import hand_in, sample_class
from .grade_class import grade_class
from .release import release_lessons
from .write_feedback import write_feedback


def demonstrate(root: Path, console: Console) -> int:
    """Release all lessons, hand in a sample class, grade it and write feedback. Returns how many steps failed."""
    names = list_lessons(root)
    release_lessons(root, names, console)
    for name in names:
        new = [student for student, notebook in sample_class(root, name) if hand_in(root, name, student, notebook)]
        console.print(f"{name}: {len(new)} sample submissions handed in" if new else f"{name}: sample class reused")
    return len(grade_class(root, names, console).failed) + write_feedback(root, names, console)
