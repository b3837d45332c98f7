"""Answers under `torch.compile` are judged by what they compute, and without waiting for a compiler."""

from __future__ import annotations

import pytest
import torch

from course.harness.program import Program
from course.harness.runner import observe
from course.harness.serialization import Node
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process

from ..support.repository import ROOT

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated")


def softmax(x, dim=-1):
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def compiled_in_the_call(x, dim=-1):
    return torch.compile(softmax)(x, dim)


@pytest.fixture(scope="module")
def exercise():
    return load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]


@pytest.mark.full
@pytest.mark.parametrize("way", ["eager", "inductor", "in the call"])
def test_a_right_answer_under_compile_is_right(exercise, way):
    answer = compiled_in_the_call if way == "in the call" else torch.compile(softmax, backend=way)
    verdict = grade_in_process(exercise, {"softmax": answer}, seed=1)
    assert (verdict.status, verdict.earned) == ("right", 7.0)
    assert torch.allclose(torch.compile(softmax, backend="eager")(torch.eye(2)), torch.eye(2).softmax(-1))


@pytest.mark.parametrize("way", ["eager", "in the call"])
def test_what_is_forbidden_is_seen_under_compile(exercise, way):
    given = lambda x, dim=-1: torch.softmax(x, dim)  # noqa: E731 - one of two forms of the same
    answer = torch.compile(given, backend="eager") if way == "eager" else lambda x, dim=-1: torch.compile(given)(x, dim)
    assert grade_in_process(exercise, {"softmax": answer}, seed=1).status == "not allowed"


def test_the_notebook_compiles_again_after_a_call():
    compiled = []

    def backend(module, _):
        compiled.append(module)
        return module.forward

    double = torch.compile(lambda x: 2 * x, backend=backend)
    steps = [("out", Node("student", {"name": "f"}), [Node("ref", {"name": "x", "path": []})], {})]
    observe(Program({"x": torch.ones(3)}, steps, ["out"]), {"f": double})
    assert not compiled
    assert double(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert compiled
