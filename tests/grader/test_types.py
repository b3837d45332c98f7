"""In the course's exercises a slip of form costs the criterion that judges form, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from grading.exercises.answer_text import Answer
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process

from ..support.repository import LESSONS, ROOT, of_this_week

EXERCISES = [
    exercise for lesson in LESSONS for exercise in load_lesson(ROOT / "grader_tests" / lesson).exercises.values()
]
METHODS = {"PagedCache", "HeadLayers"}  # several of a class, or its layers, give results
FORMED = [e for e in EXERCISES if e.name not in METHODS and any(criterion.check_types for criterion in e.criteria)]

OTHER = {torch.float32: torch.float64, torch.int64: torch.int32, torch.bool: torch.uint8}
PLAIN = {bool: np.bool_, int: np.int64, float: np.float32}


def slipped(result: Any) -> Any:
    """The same numbers in another form."""
    if isinstance(result, (tuple, list)):
        return type(result)(map(slipped, result))
    if isinstance(result, torch.Tensor):
        return result.to(OTHER.get(result.dtype, result.dtype))
    return PLAIN[type(result)](result)


def with_a_slip(right: Any) -> Any:
    if not isinstance(right, type):
        return lambda *args, **kwargs: slipped(right(*args, **kwargs))

    class Slipping(right):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return slipped(super().forward(*args, **kwargs))

    return Slipping


@pytest.mark.full
@pytest.mark.parametrize("exercise", of_this_week(FORMED, 2), ids=lambda exercise: exercise.name)
def test_a_wrong_type_costs_only_the_criterion_for_types(exercise):
    right = Answer(exercise.name, "right", exercise.alternatives[0].code).load()
    verdict = grade_in_process(exercise, {exercise.name: with_a_slip(right)}, lenient=True)
    lost = [seen.name for seen in verdict.criteria if seen.status != "right"]
    assert lost == [criterion.name for criterion in exercise.criteria if criterion.check_types]
