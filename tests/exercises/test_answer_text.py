"""Edits and patches of a right answer: each must fit once, and says what is wrong where it does not."""

from __future__ import annotations

import pytest

from grading.errors import EditError
from grading.exercises.answer_text import Answer, apply_edits, apply_patch, fill_placeholder, read_cells
from grading.exercises.exercise import exercise

CODE = """def f(x, y):
    if x:
        y = x + 1
        x = y + 1
    return x + y
"""


def test_an_edit_replaces_several_unique_texts_at_once():
    assert apply_edits(CODE, {"if x": "if y", "return x": "return y"}) == CODE.replace("if x", "if y").replace(
        "return x", "return y"
    )


def test_a_text_is_run_without_what_our_own_modules_ask_of_python():
    """With our `from __future__ import annotations` a dataclass would look for its module, of which there is none."""
    kept = "from dataclasses import dataclass\n\n@dataclass\nclass Kept:\n    first: int\n"
    assert Answer("f", "kept", f"{kept}\ndef f(x):\n    return Kept(x).first").exec_in({})["f"](3) == 3


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"+ 1": "+ 2"}, "got it 2 times"),
        ({"x * y": "x"}, "got it 0 times"),
        ({"": "x"}, "got it 0 times"),
        ({"y = x": "y", "x + 1": "1"}, "overlap"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edit, message):
    with pytest.raises(EditError, match=message):
        apply_edits(CODE, edit)


def test_a_patch_takes_and_gives_whole_lines_in_the_indentation_where_they_stand():
    made = apply_patch(CODE, "\n  y = x + 1\n- x = y + 1\n+ if y:\n+     x = y\n@@\n- return x + y\n+ return y\n")
    assert made == "def f(x, y):\n    if x:\n        y = x + 1\n        if y:\n            x = y\n    return y\n"


def test_a_patch_may_only_take_away():
    assert apply_patch(CODE, "- x = y + 1\n") == CODE.replace("        x = y + 1\n", "")


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("- y = x\n+ y = 1\n", "got them 0 times"),  # a part of a line
        ("  if x:\n- y = x + 1\n", "got them 0 times"),  # another indentation than its neighbour's
        ("+ pass\n", "has no position"),
        ("y = x + 1\n", "must begin with"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch, message):
    with pytest.raises(EditError, match=message):
        apply_patch(CODE, patch)


def test_a_patch_of_lines_that_occur_twice_is_refused():
    with pytest.raises(EditError, match="got them 2 times"):
        apply_patch("a = 1\nb = 2\na = 1\n", "- a = 1\n+ a = 2\n")


def test_every_occurrence_of_a_placeholder_is_filled():
    assert fill_placeholder("a + EPS - EPSILON * EPS", "EPS", 1e-8) == "a + 1e-08 - EPSILON * 1e-08"
    assert fill_placeholder("x.VIEW(2)", "VIEW", "reshape") == "x.reshape(2)"


@pytest.mark.parametrize("word", ["EPS", "eps", "x"])
def test_a_placeholder_that_is_missing_or_not_in_capitals_is_refused(word):
    with pytest.raises(EditError, match=word):
        fill_placeholder("x + eps + EPSILON", word, 1)


def test_a_missing_placeholder_is_reported_with_the_mistakes_name():
    made = exercise("f")
    made.criterion("any", points=1)(lambda draw: [])
    right = made.reference_answer("def f(x):\n    return x")
    with pytest.raises(EditError, match=r"mistake adds of f: .*got 'EPS'"):
        right.mistake("adds", {"return x": "return x + 1"}, loses="any").for_each(EPS=(1, 2))


def test_a_criterion_is_named_by_its_first_words_which_only_it_may_have():
    made = exercise("f")
    made.criterion("any shape", points=1)(lambda draw: [])
    made.criterion("any shape and dtype", points=1)(lambda draw: [])
    made.mistake("one", loses="any shape")  # the whole name of one goes before the beginning of both
    assert made.mistakes[0].loses == ("any shape",)
    with pytest.raises(ValueError, match="begins with 'any', got 2"):
        made.mistake("two", loses="any")


def test_a_cell_brings_the_imports_that_are_given_elsewhere():
    answer = Answer("f", "plain", "def f(x):\n    return F.relu(x) * math.pi")
    names = {}
    exec(answer.cell, names)
    assert {"F", "math"} <= names.keys()
    assert "nn" not in names


def test_an_answer_that_defines_something_else_is_reported():
    with pytest.raises(ValueError, match="does not define f"):
        _ = Answer("f", "other", "def g(x):\n    return x").load()


def test_cells_are_read_by_their_titles(tmp_path):
    (tmp_path / "a.py").write_text('"""Head."""\nimport math\n\n# %% one\nx = 1\n\n\n# %% two words\ny = 2\n')
    assert read_cells(tmp_path / "a.py") == {"one": "x = 1", "two words": "y = 2"}
