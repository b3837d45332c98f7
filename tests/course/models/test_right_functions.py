"""The package's right functions are right answers, by the grade's own cases, and earn nothing as answers."""

from __future__ import annotations

from importlib import import_module

import pytest
import torch

from course.models.right_functions import right_function
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from tests.support.repository import LESSONS, ROOT

SLOW = ("beam_search",)
NAMES = [
    (lesson, name)
    for lesson in LESSONS
    for name in import_module(f"course.models.right_functions.lesson_{lesson[:2]}").__all__
]


@pytest.mark.full
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_one(lesson: str) -> None:
    names = {name for known, name in NAMES if known == lesson}
    assert names == load_lesson(ROOT / "grader_tests" / lesson).exercises.keys()


@pytest.mark.quick_cases(*(name for _, name in NAMES if name not in SLOW))
@pytest.mark.parametrize(("lesson", "name"), NAMES, ids=[name for _, name in NAMES])
def test_it_does_all_that_the_exercise_asks(lesson: str, name: str) -> None:
    exercise = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]
    verdict = grade_in_process(exercise, {name: right_function(lesson, name)}, seed=0, lenient=True)
    assert verdict.status == "right", [c.finding for c in verdict.criteria if c.finding]


@pytest.mark.full("the same path as for a few names in tests/grader/test_ready_made_answers.py")
@pytest.mark.parametrize(("lesson", "name"), NAMES, ids=[name for _, name in NAMES])
def test_it_earns_nothing_as_an_answer(lesson: str, name: str) -> None:
    exercise = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]
    verdict = grade_in_process(exercise, {name: right_function(lesson, name)}, seed=0)
    assert (verdict.status, verdict.earned) == ("not allowed", 0)


def test_there_is_none_for_another_lesson_or_name() -> None:
    assert right_function("02_softmax", "softmax") is not None
    assert right_function("02_softmax", "dot") is None
    assert right_function("02_softmax", "torch") is None
    assert right_function("77_mine", "softmax") is None


def test_a_rotation_takes_pairs_that_begin_anywhere_in_memory() -> None:
    """PyTorch's complex views need an even place, and a learner may pass any slice."""
    apply_rope = right_function("07_rope", "apply_rope")
    assert apply_rope is not None
    x = torch.arange(5.0)[1:].reshape(2, 2)
    assert torch.allclose(apply_rope(x, torch.arange(2)), apply_rope(x.clone(), torch.arange(2)))
