"""Texts of known mistakes and answers, from a course's current exercises."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from course.harness.sentences import split_sentence

if TYPE_CHECKING:
    from ..exercises.exercise import Exercise


class MistakeTexts:
    """The exercises of the course in `root`. Removed exercises have no texts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._exercises = lru_cache(self._load)

    def explain(self, lesson: str, exercise: str, mistake: str) -> tuple[str, str]:
        """The headline and the advice on a known mistake, as in the report that the student gets; "" for none."""
        known = self._exercises(lesson).get(exercise)
        return split_sentence(next((m.text for m in known.mistakes if m.name == mistake), "") if known else "")

    def answers(self, lesson: str, exercise: str) -> list[str]:
        """The code of all known answers, right and wrong."""
        known = self._exercises(lesson).get(exercise)
        if known is None:
            return []
        wrong = (answer for mistake in known.mistakes for answer in mistake.all_forms)
        return [answer.code for answer in (*known.alternatives, *known.reference_answers, *wrong)]

    def _load(self, lesson: str) -> dict[str, Exercise]:
        from ..exercises.lesson import load_lesson  # imports torch

        folder = self.root / "grader_tests" / lesson
        return load_lesson(folder).exercises if folder.is_dir() else {}
