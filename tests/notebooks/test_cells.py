"""What cells say by their nbgrader metadata, which is read in one module."""

from __future__ import annotations

import pytest

from grading.notebooks.cells import check_of, exercise_named, exercise_of, grade_id, visible

from ..support.repository import ROOT


@pytest.mark.parametrize(
    "said", ['"check_"', 'f"check_', "'check_", '"attention_course"', "HIDDEN TESTS", '.get("grade_id"']
)
def test_what_marks_a_cell_is_said_in_one_place(said):
    files = [path for folder in ("grading", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in files if said in code_of(path)] in ([], ["cells.py"], ["lesson_marks.py"])


def code_of(path):
    """Without docstrings, which may tell of a mark."""
    return "".join(path.read_text(encoding="utf-8").split('"""')[::2])


@pytest.mark.parametrize(
    "marks", [None, "yes", 3, [], {}, {"grade_id": 7}, {"grade_id": None}, {"grade_id": ["check_f"]}]
)
def test_marks_that_are_malformed_name_no_cell(marks):
    assert grade_id({"metadata": {"nbgrader": marks}}) == ""
    assert grade_id({"metadata": {}}) == ""


def test_a_grade_cell_is_named_after_its_exercise():
    cell = {"metadata": {"nbgrader": {"grade_id": "check_check_sum"}}}
    assert exercise_of(cell) == exercise_named(grade_id(cell)) == "check_sum"
    assert check_of("check_sum") == grade_id(cell)


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("check(f)\n### BEGIN HIDDEN TESTS\nsecret\n### END HIDDEN TESTS", "check(f)"),
        ("check(f)\n    ### BEGIN HIDDEN TESTS\nsecret\n    ### END HIDDEN TESTS\nplot(f)\n", "check(f)\nplot(f)"),
        ("check(f)\n### BEGIN HIDDEN TESTS\nsecret, and no end", "check(f)"),
        ("check(f)", "check(f)"),
    ],
)
def test_hidden_tests_are_not_visible(source, seen):
    assert visible(source) == seen
