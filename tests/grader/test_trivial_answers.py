"""Answers that do nothing of what is asked: what they earn is what the exercise's criteria let through."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import nn

from course.harness.program import Program
from course.harness.runner import observe
from course.harness.serialization import Node
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process

from ..support.repository import LESSONS, ROOT, of_this_week

EXERCISES = [(lesson, name) for lesson in LESSONS for name in load_lesson(ROOT / "grader_tests" / lesson).exercises]


def refuses(parameters):
    def answer(*args, **kwargs):
        given = dict(zip(parameters, args, strict=False)) | kwargs
        told = (f"{name} is {value!r} {tuple(getattr(value, 'shape', ()))}" for name, value in given.items())
        raise ValueError("; ".join(told))

    return answer


class GivesBack(nn.Module):
    def forward(self, *args, **kwargs):
        return (args or tuple(kwargs.values()))[0]


class GivesBackAPair(GivesBack):
    def forward(self, *args, **kwargs):
        x = super().forward(*args, **kwargs)
        return x, x


TRIVIAL = {
    "refuses everything": refuses,
    "gives back the first argument": lambda _: lambda *args, **kwargs: (args or tuple(kwargs.values()))[0],
    "gives back the last argument": lambda _: lambda *args, **kwargs: (*args, *kwargs.values())[-1],
    "gives back all arguments": lambda _: lambda *args, **kwargs: (*args, *kwargs.values()),
    "returns nothing": lambda _: lambda *args, **kwargs: None,
    "returns 0": lambda _: lambda *args, **kwargs: 0.0,
    "returns 1": lambda _: lambda *args, **kwargs: 1,
    "returns True": lambda _: lambda *args, **kwargs: True,
    "returns a tensor of 0": lambda _: lambda *args, **kwargs: torch.zeros(()),
    "returns an empty list": lambda _: lambda *args, **kwargs: [],
    "a module that gives back what it gets": lambda _: lambda *args, **kwargs: GivesBack(),
    "a module that gives it back twice": lambda _: lambda *args, **kwargs: GivesBackAPair(),
}


@pytest.mark.quick_cases("02_softmax-softmax", "02_softmax-entropy")
@pytest.mark.parametrize(
    ("lesson", "name"), of_this_week(EXERCISES, 2, always=[("02_softmax", "softmax"), ("02_softmax", "entropy")])
)
def test_an_answer_that_does_nothing_earns_nothing(lesson, name):
    known = load_lesson(ROOT / "grader_tests" / lesson)
    exercise = known.exercises[name]
    earned = {}
    for what, make in TRIVIAL.items():
        answer = make(list(inspect.signature(exercise.answer).parameters))
        verdict = grade_in_process(exercise, {name: answer}, lesson=known)
        if verdict.earned:
            earned[what] = [criterion.name for criterion in verdict.criteria if criterion.earned]
        assert exercise.answer.__name__ not in str(verdict.to_json()), what
    assert not earned


@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_no_error_tells_the_name_of_an_oracle(lesson, name):
    """Follow-through puts oracles in the place of wrong answers: a call that does not fit tells what it called."""
    exercise = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]
    assert exercise.answer.__name__ != name
    program = Program({}, [("out", Node("student", {"name": name}), [1] * 9, {})], ["out"])
    program.stand_ins[name] = exercise.sealed
    raised = observe(program, {name: None}).raised
    assert raised["type"] == "TypeError"
    assert f"{name}" in raised["message"]
    assert exercise.answer.__name__ not in str(raised)
