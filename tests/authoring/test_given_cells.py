"""Which cells of a notebook came with its lesson, and the exercises of earlier lessons that they use."""

from __future__ import annotations

import json
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.notebook import catalog
from course.notebook.stand_ins import cell_hash
from grading.authoring.given_cells import given_data
from grading.authoring.lesson_text import read_lesson
from grading.exercises.lesson import load_lesson

from ..support.repository import LESSONS, ROOT

ANSWER = {"nbgrader": {"grade_id": "masked_attention", "solution": True, "grade": False}}
CHECK = {"nbgrader": {"grade_id": "check_masked_attention", "solution": False, "grade": True}}
CELLS = (
    new_markdown_cell("show(softmax)"),
    new_code_cell("import torch\nbegin('05_causal_mask')"),
    new_code_cell("def masked_attention(q, k, v):\n    raise NotImplementedError", metadata=ANSWER),
    new_code_cell("check(masked_attention)", metadata=CHECK),
    new_code_cell("def hide(scores):\n    raise NotImplementedError"),
    new_code_cell("check(hide)\nhint(hide)"),
    new_code_cell("show(softmax(scores, dim=-1), masked_attention, attention)"),
    new_code_cell("def attention(q):\n    return dot(q, entropy.passes)\nfor entropy in (): pass"),
    new_code_cell("# only a comment"),
)
GIVEN = [CELLS[number].source for number in (1, 6, 7)]
FORMER = re.compile(r"(?<![\w.])use\(|\.whose\b|_fallbacks\b|^# hint\(", re.MULTILINE)


def test_cells_for_answers_and_calls_of_check_are_not_given():
    data = json.loads(given_data(new_notebook(cells=list(CELLS)), "05_causal_mask", {"hide"}))
    assert data["cells"] == sorted(map(cell_hash, GIVEN))


def test_earlier_exercises_are_those_that_a_given_cell_reads_and_no_cell_binds():
    data = json.loads(given_data(new_notebook(cells=list(CELLS)), "05_causal_mask", {"hide"}))
    assert data["earlier"] == {"softmax": "02_softmax", "dot": "01_dot_products"}
    assert json.loads(given_data(new_notebook(cells=list(CELLS)), "02_softmax", {"hide"}))["earlier"].keys() == {"dot"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_package_has_those_of_its_lessons(lesson):
    tests = load_lesson(ROOT / "grader_tests" / lesson)
    notebook = read_lesson(ROOT / "source" / f"{lesson}.py")
    data = given_data(notebook, lesson, tests.steps.keys() | tests.challenges.keys())
    assert (catalog.EXAMPLES / f"{lesson}{catalog.GIVEN}").read_bytes() == data, f"run `grading build {lesson}`"


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_writes_the_plain_name_of_a_function(lesson):
    text = (ROOT / "source" / f"{lesson}.py").read_text(encoding="utf-8")
    assert FORMER.findall(text) == []
