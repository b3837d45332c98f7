"""The page of known mistakes for teachers, made from `grader_tests`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..course_dir.lessons import list_lessons
from ..exercises.exercise import Exercise
from ..exercises.lesson import load_lesson

REPORTS = Path("build") / "reports"  # in a course's directory: generated pages, which no repository has
HEAD = (
    "# What goes wrong\n\nAll mistakes that the graders know, by exercise, with the criteria "
    "that each loses and what the learner reads.\n"
)


def write(root: Path) -> None:
    """Write the page into build/reports."""
    path = root / REPORTS / "mistakes.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(root), encoding="utf-8")


def page(root: Path) -> str:
    described = [root / "grader_tests" / lesson for lesson in list_lessons(root)]
    exercises = ((p.name, e) for p in described if p.exists() for e in load_lesson(p).exercises.values())
    return "\n".join([HEAD, *("\n".join(_lines(lesson, exercise)) + "\n" for lesson, exercise in exercises)])


def _lines(lesson: str, exercise: Exercise) -> Iterator[str]:
    yield f"## {lesson}: {exercise.name}\n"
    for mistake in exercise.mistakes:
        name, loses = mistake.name.replace("_", " "), "; ".join(mistake.loses)
        yield f"- **{name}** ({loses}): {' '.join(mistake.text.split())}"
