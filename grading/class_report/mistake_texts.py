"""What the graders of a course know of its exercises, as they are now."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..exercises.exercise import Exercise


class MistakeTexts:
    """The graders of the course in `root`. Of an exercise that it has no more nothing is known."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._exercises = lru_cache(self._load)

    def text(self, lesson: str, exercise: str, mistake: str) -> str:
        """The sentence for a known mistake, or ""."""
        known = self._exercises(lesson).get(exercise)
        return next((one.text for one in known.mistakes if one.name == mistake), "") if known else ""

    def answers(self, lesson: str, exercise: str) -> list[str]:
        """All answers that are known, right and wrong, as texts."""
        known = self._exercises(lesson).get(exercise)
        if known is None:
            return []
        wrong = (one for mistake in known.mistakes for one in mistake.all_forms)
        return [one.code for one in (*known.alternatives, *known.reference_answers, *wrong)]

    def _load(self, lesson: str) -> dict[str, Exercise]:
        from ..exercises.lesson import load_lesson  # it brings torch

        folder = self.root / "grader_tests" / lesson
        return load_lesson(folder).exercises if folder.is_dir() else {}
