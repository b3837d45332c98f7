"""The answers in grader_tests and the recorded verdicts have the same names."""

from __future__ import annotations

import json

import pytest

from grading.exercises.lesson import load_lesson

from ..conftest import LESSONS, ROOT
from ..support.verdicts import RECORDS


@pytest.mark.parametrize("lesson", LESSONS)
def test_exactly_the_known_answers_have_a_recorded_verdict(lesson):
    recorded = json.loads((RECORDS / f"{lesson}.json").read_text(encoding="utf-8"))
    known = {
        name: {
            "solution",
            "oracle",
            *(f"alternative {right.name}" for right in exercise.alternatives),
            *(f"mistake {wrong.name}" for mistake in exercise.mistakes for wrong in mistake.all_forms),
        }
        for name, exercise in load_lesson(ROOT / "grader_tests" / lesson).all_exercises.items()
    }
    assert {name: set(answers) for name, answers in recorded.items()} == known
