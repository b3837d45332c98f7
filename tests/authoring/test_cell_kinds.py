"""The kind that the build gives each cell, and which cells a grade and a proof leave out for it."""

from __future__ import annotations

import pytest

from course.cell_kinds import is_left_out
from grading.authoring.lesson_text import read_lesson

MARKS = '{"grade": %s, "grade_id": "%s", "locked": false, "schema_version": 3, "solution": %s, "task": false}'
SOLUTION, GRADE = MARKS % ("false", "double", "true"), MARKS % ("true", "check_double", "false")


def read_cell(tmp_path, marks, source):
    path = tmp_path / "01_tiny.py"
    path.write_text(f"# %%{marks}\n{source}\n")
    (cell,) = read_lesson(path).cells
    return cell


@pytest.mark.parametrize(
    ("marks", "source", "kinds", "left_out"),
    [
        (" [markdown]", "# Prose.", ["text"], False),
        (' [markdown] tags=["exercise"]', "# Write.", ["exercise"], False),
        ("", "import torch\n\nbegin('01_tiny')", ["code"], False),
        (' tags=["code"]', "x = 1", ["code"], False),
        (' tags=["picture"]', "draw(1)", ["picture"], True),
        (' tags=["model"]', "lm.compare()", ["model"], True),
        (' tags=["raises-exception", "code"]', "1 / 0", ["code", "raises-exception"], False),
        (f" nbgrader={SOLUTION}", "def double(x):\n    return 2 * x", ["exercise"], False),
        (f" nbgrader={GRADE}", "check(double)", ["exercise"], False),
        ("", "def halve(x):\n    raise NotImplementedError", ["exercise"], False),
        ("", "check(halve)  # stuck?", ["exercise"], True),
        ("", "check(halve)\nhalve(2)", ["exercise"], False),
        ("", "x = 1\npredict('x', ..., x)", ["prediction"], False),
        (' tags=["experiment"]', "finding = ...", ["experiment"], True),
        ("", 'finding = ...\ncheck("experiment", finding)', ["experiment"], True),
        ("", "progress()", ["progress"], True),
        ("", "x = 1", [], False),
        (' tags=["picture"]', "predict('x', ...)", ["picture", "prediction"], True),
    ],
)
def test_a_cell_has_the_kind_of_its_tag_its_marks_or_its_calls(tmp_path, marks, source, kinds, left_out):
    cell = read_cell(tmp_path, marks, source)
    assert cell.metadata.tags == kinds
    assert is_left_out(cell.metadata, cell.source) is left_out


def test_tags_that_a_notebook_may_not_have_are_of_no_kind():
    assert not any(is_left_out({"tags": tags}, "x = 1") for tags in (None, "picture", {"picture": 1}, [["picture"]]))
