"""What the build counts in a lesson's notebook, and writes into it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.authoring.effort import check_ratings, effort_of, state_effort
from grading.authoring.student_install import SET_UP
from grading.errors import BuildError

RATED = "*Difficulty ★★☆, importance ●●○, about {} minutes.*"
STUB = "def {}(x):\n    raise NotImplementedError"
SOLUTION = {"nbgrader": {"grade_id": "double", "solution": True, "grade": False}}
GRADE = {"nbgrader": {"grade_id": "check_double", "grade": True, "solution": False, "points": 2.5}}


HIDDEN = "check(double)\n### BEGIN HIDDEN TESTS\nfrom grading.judge import grade\n\ngrade(double)\n### END HIDDEN TESTS"


def code(source, *tags, **metadata):
    return new_code_cell(source, metadata={"tags": list(tags), **metadata})


def notebook(*cells):
    return new_notebook(cells=[new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in cells])


def test_words_are_separated_by_spaces_and_a_formula_is_one():
    made = notebook("# One two\n\nthree $a + b$, `x @ y`\n\n$$ c\n= d $$\n\n| e |\n|---|", "**Time:** about 5 minutes")
    assert effort_of(made).core.words == len(
        ["#", "One", "two", "three", "F,", "`x", "@", "y`", "F", "|", "e", "|", "|---|"]
    )


def test_an_extra_part_ends_where_a_heading_of_its_level_begins():
    made = notebook(
        "core\n\n## Title (extra)\n\nextra\n\n```python\n# no heading\n```",
        "### Below\n\nextra",
        code("shown = 1", "code"),
        "## Next\n\n<details><summary>More (extra)</summary>\n\nfolded\n\n</details>\n\ncore",
        "### Small (extra)\n\nextra",
        code("predict('a', ...)", "prediction"),
        "### Next\n\ncore",
        code("shown = 1\n\nshown = 2", "code"),
    )
    found = effort_of(made)
    assert (found.core.words, found.core.given, found.core.predictions) == (7, 2, 0)
    assert (found.extra.words, found.extra.given, found.extra.predictions) == (20, 2, 1)


def test_lines_are_given_written_or_folded():
    made = notebook(
        new_code_cell("import pip\npip", id=SET_UP, metadata={"tags": ["code"], "cellView": "form"}),
        code("# @title A\ndraw()", "picture", cellView="form"),
        code("# Takes about 40 seconds\n\ntrain()", "model"),
        code(STUB.format("halve"), "exercise"),
        code("check(halve)", "exercise"),
        code("def double(x):\n    raise NotImplementedError()", "exercise", **SOLUTION),
        code(HIDDEN, "exercise", **GRADE),
        code("finding = ...", "experiment"),
        code("%%answer why\nYOUR ANSWER HERE", "exercise"),
        "[a](https://github.com/o/a/issues/1) [b](https://github.com/o/a/pull/2) [c](https://github.com/o/c)",
    )
    found = effort_of(made)
    assert (found.core.given, found.hidden, found.first, found.graded, found.longest) == (4, 4, 2, 1, 40)
    assert (found.core.answers, found.bugs) == (["halve", "double"], {"o/a"})


def test_minutes_are_those_of_words_exercises_predictions_lines_and_waiting():
    given = code("# takes about 30 seconds\n" + "x\n" * 29, "code")
    made = notebook("word " * 121 + f"\n\n{RATED.format(10)}", given, code("predict('a', ...)", "prediction"))
    part = effort_of(made).core
    assert (part.words, part.rated, part.predictions, part.given, part.waiting) == (128, 10, 1, 31, 30)
    assert part.minutes == pytest.approx(128 / 130 + 14 + 1 + 31 / 15 + 0.5)


def test_the_build_states_points_and_minutes():
    made = notebook(
        "# Title\n\n**Time:**\n\nMore.",
        f"## Your experiment\n\n{RATED.format(5)}\n\n### Exercise: double\n\n{RATED.format(10)} Write it.",
        code("def double(x): ...", "exercise", **SOLUTION),
        code("check(double)", "exercise", **GRADE),
        f"## Exercise: halve (extra)\n\n{RATED.format(1)}",
        code(STUB.format("halve"), "exercise"),
        code("check(halve)", "exercise"),
    )
    state_effort(made)
    stated = effort_of(made)
    assert made.cells[0].source == "# Title\n\n**Time:** about 20 minutes, or 25 with the parts marked *extra*\n\nMore."
    assert (stated.core_minutes, stated.all_minutes) == (20, 25)
    assert "about 5 minutes, no points.*" in made.cells[1].source
    assert "about 10 minutes, 2.5 points.* Write it." in made.cells[1].source
    assert "about 1 minutes, no points.*" in made.cells[4].source


@pytest.mark.parametrize(
    "rating", ["", "*Difficulty ★★☆ · about 8 minutes*", "*Difficulty ★★, importance ●●○, about 8 minutes.*"]
)
def test_an_exercise_without_a_rating_of_its_own_is_refused(rating):
    cells = [RATED.format(2), code(STUB.format("halve"), "exercise"), rating, code(STUB.format("third"), "exercise")]
    with pytest.raises(BuildError, match=r"the cell 'def third.* is an exercise without a rating"):
        check_ratings(notebook(*cells), Path("01_a.py"))
    check_ratings(notebook(*cells[:2]), Path("01_a.py"))
