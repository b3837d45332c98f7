"""Every grader is proved: the solution and every alternative are right, every known mistake loses and is named."""

from __future__ import annotations

import pytest

from grading.build import lessons
from grading.check import check_lesson
from grading.judge.exercise import load_lesson

from .conftest import ROOT

EXERCISES = [
    (lesson, name)
    for lesson in lessons(ROOT)
    for name in load_lesson(ROOT / "grader_tests" / f"{lesson}.py").exercises
]


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_a_grader_is_proved(lesson, name):
    (outcome,) = check_lesson(ROOT, lesson, name, mutate=False)
    assert not outcome.problems, str(outcome)
    assert outcome.counts["named"] == outcome.counts["mistakes"]


def test_a_lesson_totals_twenty_points():
    for lesson in lessons(ROOT):
        exercises = load_lesson(ROOT / "grader_tests" / f"{lesson}.py").exercises.values()
        assert sum(e.points for e in exercises) == 20, lesson
