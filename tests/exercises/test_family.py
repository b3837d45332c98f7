"""Families: one idea, made into a mistake of many exercises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from grading.exercises.answer_text import EditError
from grading.exercises.exercise import Exercise, Family, call, changed_checks, exercise, wrapped
from grading.exercises.lesson import load_lesson

ROOT = Path(__file__).parents[2]
LESSONS = sorted(path for path in (ROOT / "grader_tests").iterdir() if path.name[:2].isdigit())
CODE = """
def scale(x, factor, steps=1):
    if not factor > 0:
        raise ValueError(f"factor is {factor}")
    for _ in range(steps):
        if steps > 9:
            raise ValueError("steps")
        x = x * factor
    return x
"""
CUT = Family(
    "gradient-cut", "detached", "No gradient reaches {what}.", wrapped("return right(*args, **kwargs).detach()"),
    words={"what": "x"},
)  # fmt: skip


@pytest.fixture
def scale() -> Exercise:
    made = exercise("scale", see="Scaling")

    @made.criterion("values", points=1)
    def _(draw):
        yield call(draw.normal(3), 2.0)

    return made


def test_a_family_gives_a_mistake_its_name_sentence_id_and_code(scale):
    mistake = scale.reference_answer(CODE).mistake(CUT, loses="values")
    assert (mistake.name, mistake.text, mistake.family) == ("detached", "No gradient reaches x.", "gradient-cut")
    assert mistake.see == "Scaling"
    x = torch.ones(2, requires_grad=True)
    assert not mistake.load()(x, factor=2.0).requires_grad
    assert torch.equal(mistake.load()(x, 3.0, steps=2), 9 * torch.ones(2))


def test_an_exercise_may_adapt_all_of_it(scale):
    right = scale.reference_answer(CODE)
    adapted = right.mistake(
        CUT("cuts_it", see="Elsewhere", what="`factor`"), {"x * f": "x.detach() * f"}, loses="values"
    )
    assert (adapted.name, adapted.text, adapted.see) == ("cuts_it", "No gradient reaches `factor`.", "Elsewhere")
    assert adapted.code == right.code.replace("x * f", "x.detach() * f")
    own = right.mistake(CUT, loses="values")
    own.feedback("Its own sentence.")
    assert (own.text, own.family, own.see) == ("Its own sentence.", "gradient-cut", "Scaling")
    assert right.mistake("of_no_family", {"x * f": "x + f"}, loses="values").family == ""


def test_the_name_of_a_family_is_taken_once(scale):
    right = scale.reference_answer(CODE)
    right.mistake(CUT, loses="values")
    with pytest.raises(ValueError, match="two mistakes are called detached"):
        right.mistake(CUT, loses="values")


def test_a_placeholder_without_a_value_is_refused(scale):
    with pytest.raises(KeyError, match="what"):
        scale.reference_answer(CODE).mistake(Family("f", "f", "No {what}."), loses="values")


@pytest.mark.parametrize(
    ("change", "about", "gone", "left"),
    [
        (lambda condition, message: "pass", "", 2, 0),
        (lambda condition, message: f"assert not ({condition}), {message}", "factor", 1, 1),
        (lambda condition, message: f"if {condition}:\n    raise TypeError({message})", "steps", 1, 1),
    ],
)
def test_checks_are_changed_all_or_those_about_an_argument(change, about, gone, left):
    code = changed_checks(change, about)(CODE, "scale")
    names: dict[str, object] = {}
    exec(code, names)
    assert code.count("raise ValueError") == left
    assert code.count("assert not") + code.count("TypeError") + code.count("pass") == gone
    assert code.splitlines()[-1] == "    return x"


def test_a_check_that_there_is_not_cannot_be_changed():
    with pytest.raises(EditError, match="no check of width"):
        changed_checks(lambda condition, message: "pass", "width")(CODE, "scale")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.name)
def test_every_family_has_one_kind_of_id_and_its_mistakes_a_sentence(lesson):
    for made in load_lesson(lesson).all_exercises.values():
        for mistake in made.mistakes:
            assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", mistake.family), mistake.name
            assert "{" not in mistake.text or not mistake.family, (mistake.name, mistake.text)
