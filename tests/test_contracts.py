"""The written contracts and the lessons are of the same exercises, in the same order, with the same signatures."""

from __future__ import annotations

import ast
import re

import pytest

from grading.authoring.lesson_text import read_lesson
from grading.exercises.lesson import load_lesson
from grading.grader.cell_code import defines
from grading.notebooks.cells import grade_id

from .support.repository import LESSONS, ROOT

ROW = re.compile(r"^\| `(\w+)\((.*?)\)` \|", re.M)
STEPS = "## Exercises without points\n"  # the last part with a table


def written(lesson: str, steps: bool = False) -> dict[str, str]:
    page = (ROOT / "docs" / "contracts" / f"{lesson[:2]}.md").read_text(encoding="utf-8")
    return dict(ROW.findall(page.partition(STEPS)[2 if steps else 0]))


def parameters(code: str, name: str) -> str:
    """Names and defaults of a function, or of the constructor of a class, as one writes them without types."""
    (found,) = (node for node in ast.parse(code).body if getattr(node, "name", "") == name)
    if isinstance(found, ast.ClassDef):
        (found,) = (node for node in found.body if getattr(node, "name", "") == "__init__")
        found.args.args.pop(0)
    for argument in found.args.args:
        argument.annotation = None
    return ast.unparse(found.args)


def same_parameters(given: str, code: str, name: str) -> bool:
    return ast.unparse(ast.parse(f"def f({given}): pass").body[0].args) == parameters(code, name)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_contract_names_the_steps_as_the_lesson_asks_for_them(lesson):
    cells = [cell.source for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells if cell.cell_type == "code"]
    assert list(written(lesson, steps=True)) == list(load_lesson(ROOT / "grader_tests" / lesson).steps)
    for name, given in written(lesson, steps=True).items():
        assert same_parameters(given, next(code for code in cells if defines(code, name)), name), name


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_contract_names_the_exercises_as_the_lesson_asks_for_them(lesson):
    cells = {grade_id(cell): cell.source for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells}
    exercises = load_lesson(ROOT / "grader_tests" / lesson).exercises
    assert list(written(lesson)) == list(exercises)
    for name, given in written(lesson).items():
        assert same_parameters(given, cells[name], name), name


def test_every_lesson_has_a_contract_and_what_has_no_lesson_says_so():
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "contracts").glob("[0-9]*.md")}
    built = {lesson[:2] for lesson in LESSONS}
    assert built <= pages.keys()
    assert {name for name, text in pages.items() if "Not built yet." in text} == pages.keys() - built
    assert all(f"({name}.md)" in (ROOT / "docs" / "contracts" / "README.md").read_text() for name in pages)
