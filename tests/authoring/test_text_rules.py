"""What the build finds in a lesson's text: names that only an answer defines, and lines that begin a block."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.authoring.lesson_text import read_lesson
from grading.authoring.text_rules import check_lines, check_names
from grading.errors import BuildError
from grading.exercises.exercise import exercise, step
from grading.exercises.lesson import Lesson, load_lesson

from ..support.repository import LESSONS, ROOT

TEXT = Path("01_tiny.py")
LESSON = Lesson("01_tiny", {"answer": exercise("answer")}, steps={"stage": step("stage")})
ANSWER = {"nbgrader": {"grade_id": "answer", "grade": False, "solution": True, "locked": False, "schema_version": 3}}
CHECK = {"nbgrader": {"grade_id": "check_answer", "grade": True, "solution": False, "locked": True, "points": 20}}
HIDDEN = "check(answer)\n### BEGIN HIDDEN TESTS\nfrom grading.judge import grade\ngrade(answer)\n### END HIDDEN TESTS"
SOLVED = """### BEGIN SOLUTION
helper = scale
### END SOLUTION
def answer(x):
    ### BEGIN SOLUTION
    return helper(x)
    ### END SOLUTION"""
STAGE = "def stage(x):\n    raise NotImplementedError"


def hold_names(answer: str, stage: str, given: str) -> None:
    cells = [
        new_code_cell("import torch\nfrom course import check"),
        new_code_cell(answer, metadata=ANSWER),
        new_code_cell(HIDDEN, metadata=CHECK),
        new_code_cell(stage),
        new_code_cell(given),
    ]
    check_names(new_notebook(cells=cells), TEXT, LESSON)


@pytest.mark.parametrize(
    ("answer", "stage", "given", "cell", "missing"),
    [
        ("from math import pi\n" + SOLVED, STAGE, "area = pi", "area = pi", "pi"),
        (SOLVED, STAGE, "total = helper", "total = helper", "helper"),
        (
            "def more(x):\n    return x\n\n" + SOLVED,
            STAGE,
            "[more(i) for i in 'ab']",
            "[more(i) for i in 'ab']",
            "more",
        ),
        (SOLVED, "from math import pi\n" + STAGE, "class Area:\n    value = pi", "class Area:", "pi"),
        (SOLVED, "from math import pi\n" + STAGE, "def area():\n    return pi", "def area():", "pi"),
        (SOLVED, STAGE, "[late for _ in 'ab']\nlate = 3", "[late for _ in 'ab']", "late"),
        (SOLVED, STAGE, "total = total + 1", "total = total + 1", "total"),
        (SOLVED, STAGE, "print(grade)", "print(grade)", "grade"),
        ("from x import Kind\n" + SOLVED.replace("(x)", "(x: Kind)", 1), STAGE, "", "answer", "Kind"),
        (SOLVED, "def stage(x) -> Kind:\n    pass", "", "def stage(x) -> Kind:", "Kind"),
        (SOLVED, "def stage(x=SIZE):\n    pass", "SIZE = 3", "def stage(x=SIZE):", "SIZE"),
        (SOLVED, "@cache\ndef stage(x):\n    pass", "", "@cache", "cache"),
        (SOLVED, "class stage(Module):\n    pass", "", "class stage(Module):", "Module"),
        (SOLVED, "class stage:\n    def step(self, x: Kind):\n        pass", "", "class stage:", "Kind"),
    ],
)
def test_a_name_that_only_an_answer_or_hidden_code_defines_is_refused(answer, stage, given, cell, missing):
    with pytest.raises(BuildError) as refused:
        hold_names(answer, stage, given)
    assert str(refused.value) == (
        f"01_tiny.py: the cell {cell!r} reads {missing}, which given code does not define. Define or import it in a "
        "cell above that holds no answer, because an answer may lack it"
    )


@pytest.mark.parametrize(
    ("stage", "given"),
    [
        (STAGE, "print(answer(1), stage(2), torch.ones(2))"),
        ("def stage(x: torch.Tensor):\n    return anything", ""),
        ("class Part:\n    pass\n\nclass stage(Part):\n    pass", ""),
        (STAGE, "def first():\n    return [second for _ in 'ab']\n\nsecond = 3"),
        (STAGE, "for i in range(3):\n    rows = [[i + j + k for j in range(3)] for k in range(3)]"),
        (STAGE, "table = {k: [v for v in row] for k, row in enumerate('ab')}"),
        (STAGE, "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    print(error)"),
        (STAGE, "%matplotlib inline\ndisplay(get_ipython(), __name__)"),
    ],
)
def test_names_of_given_code_placeholders_and_ipython_are_accepted(stage, given):
    hold_names(SOLVED, stage, given)


@pytest.mark.parametrize(
    "line",
    [
        "#100](https://example.org)), which",
        "# of them are",
        "+ 3, which is",
        "- 3, which is",
        "* 3, which is",
        "> 3, which is",
        "1. That is",
        "2025) has three",
        "    deeper by four",
        "===",
        "---",
    ],
)
@pytest.mark.parametrize("above", ["prose, then a break", "# Title\nprose", "- a list\n  in two lines"])
def test_a_line_of_prose_that_begins_another_block_is_refused(line, above):
    wrapped = line if not above.startswith("-") else f"  {line}"
    notebook = new_notebook(cells=[new_markdown_cell(f"Before.\n\n{above}\n{wrapped}\nmore.")])
    with pytest.raises(BuildError) as refused:
        check_lines(notebook, TEXT)
    assert str(refused.value) == (
        f"01_tiny.py: the line {wrapped!r} would be shown as a heading, a list, a quotation or code, instead of with "
        "the line above it. Wrap the line elsewhere, or leave an empty line above it"
    )


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n## Part\n- item\n\n- one\n- two\n  goes on\n- three",
        "9. one\n   goes on\n10. two\n    goes on",
        "> a quotation\n> of two lines",
        "prose\n\n    code\n    more code\n\n```\nx\n- y\n\n# z\n```\nprose\n```diff\n- a\n+ b\n```",
        "<details><summary>Answer</summary>\n# as it is\n- so is this\n</details>",
        "| a | b |\n|---|---|\n| - | + |",
        "prose\n$$ a\n- b\n    + c $$\nprose",
        "a share of\n0.5, or the pair $(1,\n2)$, *not*\n*three*, and -\n-1 or\n3rd",
    ],
)
def test_headings_lists_code_tables_html_and_formulas_are_accepted(text):
    check_lines(new_notebook(cells=[new_markdown_cell(text)]), TEXT)


@pytest.mark.parametrize("name", LESSONS)
def test_each_lesson_holds_to_the_rules(name):
    text = ROOT / "source" / f"{name}.py"
    notebook = read_lesson(text)
    check_names(notebook, text, load_lesson(ROOT / "grader_tests" / name))
    check_lines(notebook, text)
