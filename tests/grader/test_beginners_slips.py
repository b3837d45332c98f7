"""A page has a sentence for every common slip of a beginner, whichever exercise it is in."""

from __future__ import annotations

import linecache
import textwrap

import pytest
import torch
from torch import nn

from course.harness.runner import observe
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.grader.references import practice_cases
from grading.grader.shown_cases import hide_cases, show_cases, wants_practice
from grading.grader.verdict import ExerciseVerdict

from ..support.repository import ROOT

LESSONS = [load_lesson(ROOT / "grader_tests" / name) for name in ("90_tensors", "02_softmax", "14_tokens_and_choices")]
EXERCISES = {name: exercise for lesson in LESSONS for name, exercise in lesson.exercises.items()}
LINE = """
    class Line(nn.Module):
        def __init__(self):
            super().__init__()
            self.slope = nn.Parameter(torch.tensor(0.0))
            self.offset = nn.Parameter(torch.tensor(0.0))
        def forward(self, x):
            return self.slope * x + self.offset
"""
STEP = """
    def gradient_step(weights, x, y, rate):
        w = weights.detach().clone().requires_grad_()
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        return w.detach() - rate * w.grad
"""


def graded(code: str) -> ExerciseVerdict:
    code = textwrap.dedent(code).strip() + "\n"
    name = code.split()[1].partition("(")[0].strip(":")
    file = f"<cell {abs(hash(code))}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names = {"torch": torch, "nn": nn, "__name__": "__main__"}
    exec(compile(code, file, "exec"), names)
    exercise = EXERCISES[name]
    verdict = grade_in_process(exercise, names)
    hide_cases(verdict, [])
    if wants_practice(verdict):
        cases = practice_cases(exercise)
        show_cases(verdict, exercise, cases, [observe(p.program(exercise.forbidden), names) for p in cases])
    return verdict


@pytest.mark.parametrize(
    ("code", "told"),
    {
        "no return": ("def centre(x):\n    x = x - x.mean(-1, keepdim=True)", "Is the `return` missing?"),
        "print for return": ("def centre(x): print(x - x.mean(-1, keepdim=True))", "Is the `return` missing?"),
        "no return in a module": (LINE.replace("return ", ""), "Is the `return` missing?"),
        "a comma": ("def twice(x): return 2 * x,", "A comma at the end of the line"),
        "NumPy": ("def twice(x): return 2 * x.detach().numpy()", "You return a NumPy array"),
        "a loss besides": (STEP.replace("* w.grad", "* w.grad, loss"), "You return a tuple of several results"),
        "a plain number": (
            LINE.replace("self.offset = nn.Parameter(torch.tensor(0.0))", "self.offset = 0.0"),
            "not an",
        ),
        "rows of a number": ("def twice(x): return torch.stack([2 * v for v in x])", "You loop over"),
        "a list": ("def centre(x): return (x - x.mean(-1, keepdim=True)).tolist()", "You return a list"),
        "item": ("def twice(x): return 2 * x.item()", "`.item()` and `float(…)` take a tensor with one entry"),
        "a name": ("def centre(x): return x - mean", "`mean` is not defined."),
        "integer division": ("def centre(x): return x - x.sum(-1, keepdim=True) // x.shape[-1]", "Divide with `/`"),
        "a vector": (STEP.replace(".mean()", ""), "it needs a single number"),
        "no leaf": (STEP.replace("requires_grad_()", "requires_grad_() * 1"), "`.grad` is None at that line"),
        "no backward": (STEP.replace("        loss.backward()\n", ""), "Call `backward()` first"),
        "a tuple": (
            STEP.replace("loss.backward()", "g = torch.autograd.grad(loss, w)").replace("w.grad", "g"),
            "You use a tuple as if it were a tensor",
        ),
        "not marked": (STEP.replace(".requires_grad_()", ""), "Autograd has not recorded"),
        "a number's backward": (STEP.replace(".mean()", ".mean().item()"), "`.item()` and `float(…)`"),
        "a parameter from 0.0": (LINE.replace("torch.tensor(0.0)", "0.0"), "You pass a plain number to `nn.Parameter`"),
        "a parameter from 0": (LINE.replace("0.0", "0"), "holds integers"),
        "self in forward": (LINE.replace("return self.slope", "return slope"), "write `self.slope`"),
        "self in __init__": (LINE.replace("self.slope = ", "slope = "), "no parameter named `slope`"),
        "underscores": (LINE.replace("__init__(self)", "_init_(self)"), "two underscores on each side"),
        "other names": (LINE.replace("slope", "weight").replace("offset", "bias"), "it has weight, bias"),
        "super": (LINE.replace("super().__init__()", "pass"), "must begin with `super().__init__()`"),
        "no forward": (LINE.replace("forward", "foward"), "The module has no `forward`"),
        "no self": (LINE.replace("forward(self, x)", "forward(x)"), "The first argument of a method is `self`"),
        "no module": (
            LINE.replace("(nn.Module)", "").replace("super().__init__()", "pass"),
            "`Line` is not a module. Make it a subclass of `nn.Module`",
        ),
    }.values(),
)
def test_a_slip_of_a_beginner_has_its_sentence(code, told):
    verdict = graded(code)
    assert verdict.earned < verdict.points
    assert told in f"{verdict.explanation} {verdict.advice}"
    assert "ossibly" not in verdict.explanation


def test_a_slip_in_a_part_of_what_is_wrong_comes_after_the_wrong_values():
    verdict = graded("""
        def min_p(logits, p):
            return logits.sort(-1).values + p
    """)
    assert "ValueError" not in verdict.explanation
    assert "ValueError" not in verdict.example["expected"]
    assert verdict.advice == (
        "Also: you do not raise ValueError for every argument that the exercise rules out. Check the arguments first, "
        "and name the wrong one and its value in the message."
    )


def test_a_right_answer_has_none():
    for code in (LINE, STEP):
        verdict = graded(code)
        assert (verdict.earned, verdict.explanation) == (verdict.points, "")


def test_a_known_mistake_that_raises_the_same_error_is_named_before_its_slip():
    verdict = graded("def centre(x): return x - x.mean(-1)")
    assert (verdict.mistake, verdict.certain) == ("no_keepdim", True)
