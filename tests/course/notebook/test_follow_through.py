"""`check` follows through: a wrong or unwritten earlier answer costs once, and a right one is not accused."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from course.harness import runner
from course.notebook import catalog, check
from course.notebook.follow_through import earlier_called, right_function_for

from ...support.learner import RIGHT, Learner, status_line

NAIVE = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"
STUB = "def softmax(x, dim=-1):\n    raise NotImplementedError\n"
FORBIDDEN = "def softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n"
WITH_TEMPERATURE = """
def softmax_with_temperature(x, temperature, dim=-1):
    return softmax(x / temperature, dim)
"""
MULTIPLIED = WITH_TEMPERATURE.replace("/", "*")
FOLLOWED = "Checked with a right `softmax` in place of yours"


@pytest.mark.parametrize("earlier", ["", NAIVE, STUB, FORBIDDEN, "softmax = 3\n"])
def test_a_right_answer_that_calls_a_wrong_one_passes(softmax_lesson: Learner, earlier: str) -> None:
    softmax_lesson.run(earlier + WITH_TEMPERATURE)
    kept = softmax_lesson.names["softmax"]
    text = softmax_lesson.check("softmax_with_temperature")
    assert text.startswith(status_line("passes", "softmax_with_temperature") + "4 of 4 points")
    assert FOLLOWED in text
    assert softmax_lesson.names["softmax"] is kept


@pytest.mark.parametrize("earlier", ["", NAIVE, STUB])
def test_a_wrong_answer_that_calls_a_wrong_one_is_told_its_own_mistake(softmax_lesson: Learner, earlier: str) -> None:
    softmax_lesson.run(earlier + MULTIPLIED)
    text = softmax_lesson.check("softmax_with_temperature")
    assert text.startswith(status_line("wrong", "softmax_with_temperature") + "0 of 4 points")
    assert "You multiply by the temperature" in text


def test_an_answer_that_is_not_written_stays_not_started(softmax_lesson: Learner) -> None:
    softmax_lesson.run(NAIVE + "def softmax_with_temperature(x, temperature, dim=-1):\n    raise NotImplementedError")
    assert softmax_lesson.check("softmax_with_temperature").startswith(
        status_line("not started", "softmax_with_temperature")
    )


def test_where_nothing_stands_in_for_an_unwritten_answer_the_report_sends_there(learner: Learner, monkeypatch) -> None:
    monkeypatch.setattr(check, "right_function_for", lambda *_: None)
    learner.run("begin('90_tensors')\ndef centre(x):\n    return x - twice(x).mean(-1, keepdim=True) / 2")
    text = learner.check("centre")
    assert text.startswith(status_line("wrong", "centre"))
    assert "It calls `twice`, which does not pass yet.\n  Correct that first" in text


def test_what_is_not_allowed_is_said_before_what_is_missing(learner: Learner) -> None:
    learner.run("begin('90_tensors')\nfrom course.models.right_functions import lesson_90")
    learner.run("def centre(x):\n    return twice(lesson_90.centre(x))")
    assert learner.check("centre").startswith(status_line("not allowed", "centre"))


def test_a_right_earlier_answer_is_not_replaced(softmax_lesson: Learner) -> None:
    softmax_lesson.run(RIGHT + MULTIPLIED)
    assert FOLLOWED not in softmax_lesson.check("softmax_with_temperature")


CHAIN = """
import sys
asked = []

def softmax(x, dim=-1):
    asked.append(sys._getframe(1).f_code.co_filename)
    return x.exp() / x.exp().sum(dim, keepdim=True)

def log_softmax(x, dim=-1):
    return softmax(x, dim).log()

def entropy(p, dim=-1):
    return -(softmax(p, dim) * log_softmax(p, dim)).sum(dim)
"""


@pytest.mark.full
def test_each_earlier_answer_is_checked_once_however_many_call_it(softmax_lesson: Learner) -> None:
    by_check = []
    for name in ("softmax", "entropy"):
        softmax_lesson.run(CHAIN)
        softmax_lesson.check(name)
        by_check.append(softmax_lesson.names["asked"].count(runner.__file__))
    assert by_check[0] == by_check[1] > 10


def called(code: str) -> list[str]:
    names: dict[str, Any] = {"__name__": "__main__", "functools": functools}
    exec(compile(code, "<learner>", "exec"), names)
    return earlier_called(names["entropy"], "entropy", "02_softmax", names)


@pytest.mark.parametrize(
    "code",
    [
        "def entropy(p): return softmax(p)",
        "def entropy(p): return [softmax(row) for row in p]",
        "def helper(p): return softmax(p)\ndef entropy(p): return helper(p)",
        "def helper(p, q): return softmax(p)\nentropy = functools.partial(helper, 3)",
        "@functools.lru_cache\ndef entropy(p): return softmax(p)",
        "def twice(f):\n    return lambda p: f(f(p))\n@twice\ndef entropy(p): return softmax(p)",
        "class Entropy:\n    def __call__(self, p): return softmax(p)\nentropy = Entropy()",
        "class entropy:\n    @staticmethod\n    def of(p): return softmax(p)",
    ],
)
def test_calls_are_found_wherever_the_learner_wrote_them(code: str) -> None:
    assert called(code) == ["softmax"]


@pytest.mark.parametrize(
    "code",
    [
        "def entropy(p): return p.softmax(-1)",
        "def entropy(softmax): return softmax",
        "def entropy(p): return entropy(p)",
    ],
)
def test_an_attribute_an_argument_and_the_answer_itself_are_no_calls_of_an_earlier_one(code: str) -> None:
    assert called(code) == []


def test_a_right_function_is_not_taken_for_another_exercise_of_its_name() -> None:
    softmax, entropy = (catalog.exercises_of("02_softmax")[name] for name in ("softmax", "entropy"))
    assert right_function_for("02_softmax", "softmax", softmax) is not None
    assert right_function_for("02_softmax", "softmax", {**softmax, "cases": entropy["cases"]}) is None


def test_a_step_may_call_any_exercise_of_the_lesson() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("def running_means(x): return twice(shares(x))", "<learner>", "exec"), names)
    assert earlier_called(names["running_means"], "running_means", "90_tensors", names) == ["shares", "twice"]
