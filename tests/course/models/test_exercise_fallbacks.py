"""The package's fallbacks for whole exercises are right answers, by the grade's own cases."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from course.models import exercise_fallbacks
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from tests.support.repository import LESSONS, ROOT


def exercises() -> dict[str, Any]:
    lessons = (load_lesson(ROOT / "grader_tests" / lesson) for lesson in LESSONS)
    return {name: exercise for lesson in lessons for name, exercise in lesson.all_exercises.items()}


@pytest.mark.parametrize("name", exercise_fallbacks.__all__)
def test_it_does_all_that_the_exercise_asks(name: str) -> None:
    exercise = exercises()[name]
    for seed in (0, 1):
        verdict = grade_in_process(exercise, {name: getattr(exercise_fallbacks, name)}, seed=seed, lenient=True)
        assert verdict.status == "right", [c.finding for c in verdict.criteria if c.finding]


def test_a_rotation_takes_pairs_that_begin_anywhere_in_memory() -> None:
    """PyTorch's complex views need an even place, and a learner may pass any slice."""
    x = torch.arange(5.0)[1:].reshape(2, 2)
    turned = exercise_fallbacks.apply_rope(x, torch.arange(2))
    assert torch.allclose(turned, exercise_fallbacks.apply_rope(x.clone(), torch.arange(2)))
