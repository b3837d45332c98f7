"""Stand-ins: the lesson's own cells call the learner's functions once they pass, and the course's until then."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
import torch

from course.notebook import session
from course.notebook.stand_ins import StandIn, as_in_this_cell, cell_hash
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process

from ...support.acting_lesson import LESSON as ACTS
from ...support.learner import RIGHT, Learner
from ...support.repository import ROOT

HALF = "tensor([0.5000, 0.5000])\n"
CALL = "print(softmax(torch.zeros(2), dim=-1))"
WAITS = "With the course's `softmax`, until yours passes."


def test_a_given_cell_calls_the_learners_function_once_it_passes(softmax_lesson: Learner) -> None:
    assert softmax_lesson.run_given(CALL) == HALF + WAITS
    softmax_lesson.run("def softmax(x, dim=-1): return x")
    assert softmax_lesson.run_given(CALL) == HALF + WAITS
    softmax_lesson.run(f"asked = []\n{RIGHT.replace('e =', 'asked.append(1); e =')}")
    assert softmax_lesson.run_given(CALL) == HALF
    assert softmax_lesson.names["asked"]


def test_several_functions_of_the_courses_are_named_in_one_sentence(softmax_lesson: Learner) -> None:
    said = softmax_lesson.run_given("entropy(softmax(torch.zeros(2)))")
    assert said == "With the course's `softmax` and `entropy`, until yours pass."
    said = softmax_lesson.run_given("log_softmax(torch.zeros(2)), entropy(softmax(torch.zeros(2)))")
    assert said == "With the course's `log_softmax`, `softmax` and `entropy`, until yours pass."
    assert softmax_lesson.run_given("pass") == ""


def test_steps_have_them_too(softmax_lesson: Learner) -> None:
    said = softmax_lesson.run_given("print(exp_and_divide(torch.zeros(2)))")
    assert said == HALF + "With the course's `exp_and_divide`, until yours passes."


@pytest.mark.parametrize(
    ("failure", "raised"), [("raise IndexError", "raised IndexError"), ("return None", "returned None")]
)
def test_where_the_learners_fails_later_the_courses_takes_over(
    softmax_lesson: Learner, failure: str, raised: str
) -> None:
    softmax_lesson.run(f"""
        def softmax(x, dim=-1):
            if x.numel() == 5:
                torch.set_grad_enabled(False)
                {failure}
            e = (x - x.amax(dim, keepdim=True)).exp()
            return e / e.sum(dim, keepdim=True)
    """)
    said = softmax_lesson.run_given("print(softmax.passes, softmax(torch.zeros(5), dim=-1).tolist())")
    assert said == f"True {[0.2] * 5}\n".replace("0.2", "0.20000000298023224") + (
        f"With the course's `softmax`, because yours {raised} here."
    )
    assert torch.is_grad_enabled()


def test_after_the_cell_the_learners_own_names_are_back_but_for_those_that_it_binds(softmax_lesson: Learner) -> None:
    softmax_lesson.run(RIGHT)
    before = dict(softmax_lesson.names)
    softmax_lesson.run_given("kept, entropy = softmax, 3")
    assert softmax_lesson.names["softmax"] is before["softmax"]
    assert softmax_lesson.names["log_softmax"] is before["log_softmax"]
    assert softmax_lesson.names["entropy"] == 3
    assert type(softmax_lesson.names["kept"]) is StandIn


def test_in_every_other_cell_a_stand_in_is_the_learners_own_function(softmax_lesson: Learner) -> None:
    softmax_lesson.run_given("kept = softmax")
    with pytest.raises(NotImplementedError, match="softmax is not written yet"):
        softmax_lesson.run("kept(torch.zeros(2))")
    softmax_lesson.run("def softmax(x, dim=-1): return 7")
    assert softmax_lesson.run("print(kept(torch.zeros(2)))") == "7\n"
    softmax_lesson.run("softmax = kept")
    with pytest.raises(NotImplementedError):
        softmax_lesson.run("softmax(torch.zeros(2))")
    assert softmax_lesson.run("check(kept)").startswith("○ softmax: not started")


def test_a_check_in_a_given_cell_is_of_the_learners_own(softmax_lesson: Learner) -> None:
    softmax_lesson.run("def mine(x, dim=-1): return x\nsoftmax = mine")
    assert softmax_lesson.run_given("check(softmax)").startswith("✗ softmax")
    softmax_lesson.run("def softmax_with_temperature(x, temperature, dim=-1): return softmax(x / temperature, dim)")
    said = "Checked with a right `softmax` in place of yours"
    assert said in softmax_lesson.run_given("check(softmax_with_temperature)"), "what an answer calls is theirs as well"
    assert softmax_lesson.run_given("progress()\n" + CALL).endswith(HALF + WAITS), "and the stand-in is back"


def test_what_is_defined_in_a_given_cell_calls_what_the_running_cell_has(softmax_lesson: Learner) -> None:
    softmax_lesson.run_given("def shares(x): return softmax(x)")
    with pytest.raises(NotImplementedError):
        softmax_lesson.run("shares(torch.zeros(2))")
    assert softmax_lesson.run_given("print(shares(torch.zeros(2)))") == HALF + WAITS


def test_what_an_answer_calls_is_tried_before_the_cell_and_not_in_it(softmax_lesson: Learner) -> None:
    softmax_lesson.run(f"asked = []\n{RIGHT.replace('e =', 'asked.append(1); e =')}")
    softmax_lesson.run("""
        def softmax_with_temperature(x, temperature, dim=-1):
            if not temperature > 0:
                raise ValueError(f"temperature is {temperature}")
            return softmax(x / temperature, dim)
    """)
    call = "asked.clear()\nsoftmax_with_temperature(torch.zeros(2), 1.0)\nprint(len(asked))"
    assert softmax_lesson.run_given(call) == "1\n"


def test_a_class_can_be_made_and_subclassed(learner: Learner) -> None:
    learner.run("begin('90_tensors')")
    said = learner.run_given(
        "class Mine(Line): pass\nprint(Mine()(torch.ones(1)).item(), Line()(torch.ones(1)).item())"
    )
    assert said == "0.0 0.0\nWith the course's `Line`, until yours passes."


def test_a_slider_draws_later_as_in_its_cell(softmax_lesson: Learner) -> None:
    draw = "later = as_in_this_cell(lambda x: str(softmax(x).tolist()))"
    softmax_lesson.names["as_in_this_cell"] = as_in_this_cell
    softmax_lesson.run_given(draw)
    html = softmax_lesson.run("print(later(torch.zeros(2)))")
    assert html.startswith("[0.5, 0.5]<p")
    assert "With the course&#x27;s <code>softmax</code>, until yours passes." in html
    softmax_lesson.run(RIGHT)
    assert softmax_lesson.run("print(later(torch.zeros(2)))") == "[0.5, 0.5]\n"
    softmax_lesson.run("del softmax")
    softmax_lesson.run(draw)
    with pytest.raises(NameError):
        softmax_lesson.run("later(torch.zeros(2))")


def test_exercises_of_earlier_lessons_are_there_if_given_cells_use_them(
    learner: Learner, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "09_cache.given").write_text(json.dumps({"cells": [], "earlier": {"apply_rope": "07_rope"}}))
    learner.run("begin('09_cache')")
    said = learner.run_given("print(apply_rope(torch.ones(1, 2), torch.zeros(1)).tolist())")
    assert said == "[[1.0, 1.0]]\nWith the course's `apply_rope`, until yours passes."
    assert "apply_rope" not in learner.names


def test_a_lesson_of_ones_own_brings_its_right_functions(acting: Learner) -> None:
    acting.names.pop("double")
    acting.run(f"begin({ACTS!r}, double=lambda x: x + x)")
    assert acting.run_given("print(double(4))") == "8\nWith the course's `double`, until yours passes."
    acting.run("def double(x):\n    return 2 * x")
    assert acting.run_given("print(double(4))") == "8\n"


@pytest.mark.full
def test_a_cell_is_recognised_by_its_code_and_not_by_its_literals(kernel) -> None:
    text = (ROOT / "source" / "02_softmax.py").read_text(encoding="utf-8")
    cell = "print(softmax(large, dim=-1), softmax(torch.tensor([0.0, 1.0, -torch.inf]), dim=-1))"
    assert cell in text
    kernel.run("import torch\nlarge = torch.zeros(3)")
    shown = kernel.run(cell)
    assert shown.error is None and "With the course&#x27;s <code>softmax</code>" in shown.html
    assert kernel.run(cell.replace("1.0", "2.0")).error is None
    assert "NotImplementedError" in kernel.run(cell.replace("(large, dim=-1)", "(large)")).error
    assert kernel.run("print(type(softmax).__name__)").text == "function\n"


@pytest.mark.parametrize(
    "other",
    [
        "y = f(7, [1, 2.5], -1, (), {'a': 2 * 3}, ...)",
        "y = f('ten', ['b'], 'c', 3, None, 0)  # a comment",
        "y=f(\n0,0,0,0,0,0)",
    ],
)
def test_literals_and_layout_make_no_difference(other: str) -> None:
    assert cell_hash("y = f(1, 2, 3, 4, 5, 6)") == cell_hash(other) != ""


@pytest.mark.parametrize(
    "other", ["y = g(1)", "z = f(1)", "y = f(x)", "y = f(1, 2)", "y = f(n=1)", "y += f(1)", "y = f([x])"]
)
def test_other_code_makes_one(other: str) -> None:
    assert cell_hash("y = f(1)") != cell_hash(other)


def test_the_hash_depends_on_no_version_of_python() -> None:
    """Notebooks are built with one version, and run with another."""
    code = """%time pass
@d
def f(x: int = 1, *a, k=None) -> str:
    return f"{x!r:>{k}} of {a[0]:.2f} " "b"

y = [i for i in f(2)]"""
    assert cell_hash(code) == "f2e56ae9"
    assert cell_hash("no Python") == cell_hash("# nothing") == ""


def caught(learner: Learner) -> StandIn:
    """A stand-in that a submission has caught while a given cell ran."""
    learner.run_given("kept = softmax")
    stand_in: StandIn = learner.names["kept"]
    return stand_in


def graded(answer: Any, name: str = "softmax") -> Any:
    return grade_in_process(load_lesson(ROOT / "grader_tests" / "02_softmax").exercises[name], {name: answer})


def test_a_stand_in_that_is_kept_earns_nothing(softmax_lesson: Learner) -> None:
    kept = caught(softmax_lesson)
    for answer in (kept, lambda x, dim=-1: kept(x, dim)):
        verdict = graded(answer)
        assert (verdict.criteria[0].raised, verdict.earned) == ("NotImplementedError", 0)


def test_what_is_taken_out_of_one_is_recognised(softmax_lesson: Learner) -> None:
    stand_ins = session.current().stand_ins
    with stand_ins.given():
        right = stand_ins.function("entropy")
    verdict = graded(lambda p, dim=-1: right(p, dim), "entropy")
    assert (verdict.status, verdict.earned) == ("not allowed", 0)
    assert "course.models.right_functions.lesson_02.entropy" in verdict.not_allowed


@pytest.mark.parametrize("opening", ["in the call", "in a thread of the call", "before"])
def test_a_graded_call_finds_them_closed_whoever_opens_them(softmax_lesson: Learner, opening: str) -> None:
    stand_ins, kept = session.current().stand_ins, caught(softmax_lesson)
    opened, ends = threading.Event(), threading.Event()

    def holds_open() -> None:
        with stand_ins.given():
            opened.set()
            ends.wait(60)

    def answer(x: torch.Tensor, dim: int = -1) -> Any:
        if opening == "in the call":
            with stand_ins.given():
                return kept(x, dim)
        if not opened.is_set():
            threading.Thread(target=holds_open).start()
            opened.wait(60)
        return kept(x, dim)

    if opening == "before":
        threading.Thread(target=holds_open).start()
        opened.wait(60)
    try:
        verdict = graded(answer)
        assert (verdict.criteria[0].raised, verdict.earned) == ("NotImplementedError", 0)
        assert stand_ins.is_open == (opening == "before")
    finally:
        ends.set()
