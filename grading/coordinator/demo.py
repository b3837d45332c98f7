"""Run a whole term for a sample class."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from rich.console import Console

from ..course_dir.lessons import list_lessons
from ..lms.evidence import BY_HAND, Origin, text_of
from ..lms.submitted_dir import SubmittedFolder
from .demo_class import sample_class
from .grade_class import grade_class
from .release import release_lessons
from .write_feedback import write_feedback


def demonstrate(root: Path, console: Console) -> int:
    """Release all lessons, hand in a sample class, grade it and write feedback. Returns how many steps failed."""
    names = list_lessons(root)
    release_lessons(root, names, console)
    for name in names:
        new = [
            student for student, notebook in sample_class(root, name) if hand_in_sample(root, name, student, notebook)
        ]
        console.print(f"{name}: {len(new)} sample submissions handed in" if new else f"{name}: sample class reused")
    return len(grade_class(root, names, console).failed) + write_feedback(root, names, console)


def hand_in_sample(root: Path, lesson: str, student: str, notebook: NotebookNode) -> bool:
    """Write a sample notebook and its time; returns whether anything changed. Files from anyone else stay."""
    folder = SubmittedFolder(root, root / "submitted" / student / lesson, student, lesson)
    text = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
    contents = {lesson: io.BytesIO(text.encode())}
    there = folder.origin(contents)
    if folder.holds(contents) or (there is not None and there.channel == BY_HAND):
        return False
    now = datetime.now(UTC)
    folder.write(contents, text_of(now), Origin("demo", "the demo", now))
    return True
