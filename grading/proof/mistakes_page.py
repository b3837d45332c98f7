"""docs/mistakes.md: what goes wrong, a page for teachers, made of what `grader_tests` says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..course_dir.paths import lessons
from ..exercises.exercise import Exercise
from ..exercises.lesson import load_lesson

HEAD = """# What goes wrong

All mistakes that the graders know, by exercise; after each, what a learner who makes it loses and is told. Written by
`grading build` from `grader_tests/`; how to add one is in [CONTRIBUTING.md](../CONTRIBUTING.md).
"""


def write(root: Path) -> bool:
    """Write the page, in a checkout; returns whether it changed."""
    path, text = root / "docs" / "mistakes.md", page(root)
    if not path.parent.is_dir() or (path.exists() and path.read_text(encoding="utf-8") == text):
        return False
    path.write_text(text, encoding="utf-8")
    return True


def page(root: Path) -> str:
    described = [root / "grader_tests" / lesson for lesson in lessons(root)]
    exercises = ((p.name, e) for p in described if p.exists() for e in load_lesson(p).exercises.values())
    return "\n".join([HEAD, *("\n".join(_lines(lesson, exercise)) + "\n" for lesson, exercise in exercises)])


def _lines(lesson: str, exercise: Exercise) -> Iterator[str]:
    yield f"## {lesson}: {exercise.name}\n"
    for mistake in exercise.mistakes:
        name, loses = mistake.name.replace("_", " "), "; ".join(mistake.loses)
        yield f"- **{name}** ({loses}): {' '.join(mistake.text.split())}"
