"""What a lesson asks of a learner, counted in its released notebook and held to a budget.

`over_budget.toml` has what is over it, lesson by lesson: exactly the number of today. A lesson that gets better lowers
its number, and one within all budgets has no entry.
"""

from __future__ import annotations

import ast
import re
import tomllib
from math import ceil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course.cell_kinds import KINDS
from grading.authoring.check_data import right_answer
from grading.authoring.effort import Effort, effort_of
from grading.authoring.lesson_text import read_lesson
from grading.exercises.lesson import load_lesson
from grading.notebooks.cells import grade_id

from ..support.repository import LESSONS, ROOT

RELEASE = ROOT / "release"
OVER = tomllib.loads(Path(__file__).with_name("over_budget.toml").read_text(encoding="utf-8"))
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
LIMITS = {
    "words, core": 1600,
    "words": 2130,
    "minutes, core": 60,
    "given lines": 120,
    "hidden lines": 100,
    "lines of the first cell": 60,
    "exercises": 6,
    "graded exercises": 4,
    "words per line written, core": 100,
    "predictions": 6,
    "experiments": 1,
    "bugs": 1,
    "seconds of a cell": 20,
}
LATER = {"words, core": 2000, "words": 2700, "minutes, core": 90, "graded exercises": 5}  # from 09 on
OF_A_LESSON = {
    "00": {"words, core": 1200, "words": 1200, "minutes, core": 45, "graded exercises": 5},
    "04": {"words, core": 1000, "words": 1400, "minutes, core": 40},
    "05": {"minutes, core": 75},
    "06": {"minutes, core": 75},
    "07": {"minutes, core": 70},
    "08": {"minutes, core": 90, "given lines": 220, "seconds of a cell": 100},  # the learner trains the model there
    "10": LATER | {"graded exercises": 6},
    "90": {"minutes, core": 45, "exercises": 12},
}


def released(lesson: str) -> Any:
    return nbformat.read(RELEASE / lesson / f"{lesson}.ipynb", as_version=4)


def limits(lesson: str) -> dict[str, int]:
    return LIMITS | OF_A_LESSON.get(lesson[:2], LATER if lesson >= "09" else {})


def lines(code: str) -> int:
    """Lines of code that is not blank and no comment."""
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in code.splitlines())


def lines_of_bodies(code: str) -> int:
    """Lines of an answer without the heads and docstrings of its functions, which its stub has."""
    count = lines(code)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = node.body[0]
            count -= first.lineno - node.lineno
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                count -= (first.end_lineno or 0) - first.lineno + 1
    return count


def written_lines(lesson: str, answers: list[str]) -> int:
    """Lines that a learner writes for these answers."""
    cells = {grade_id(cell): cell.source for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells}
    steps = load_lesson(ROOT / "grader_tests" / lesson).steps
    own = [lines_of_bodies(right_answer(steps[name])) for name in answers if name in steps]
    return sum(own) + sum(lines("".join(SOLUTION.findall(cells[name]))) for name in answers if name not in steps)


def measured(lesson: str) -> dict[str, int]:
    notebook = released(lesson)
    found: Effort = effort_of(notebook)
    core, extra = found.core, found.extra
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return {
        "words, core": core.words,
        "words": core.words + extra.words,
        "minutes, core": ceil(core.minutes),
        "given lines": core.given + extra.given,
        "hidden lines": found.hidden,
        "lines of the first cell": found.first,
        "exercises": len(core.answers + extra.answers),
        "graded exercises": found.graded,
        "words per line written, core": ceil(core.words / written_lines(lesson, core.answers)),
        "predictions": core.predictions + extra.predictions,
        "experiments": code.count('check("experiment", '),
        "bugs": len(found.bugs),
        "seconds of a cell": found.longest,
    }


def over(lesson: str) -> dict[str, int]:
    allowed = limits(lesson)
    return {name: number for name, number in measured(lesson).items() if number > allowed[name]}


def as_toml(lesson: str) -> str:
    return "\n".join([f'["{lesson}"]', *(f'"{name}" = {number}' for name, number in over(lesson).items()), ""])


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_within_its_budgets(lesson):
    assert OVER.get(lesson, {}) == over(lesson), f"tests/authoring/over_budget.toml:\n{as_toml(lesson)}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_cell_of_a_released_notebook_has_one_kind(lesson):
    kinds = [[tag for tag in cell.metadata.get("tags", []) if tag in KINDS] for cell in released(lesson).cells]
    assert {len(found) for found in kinds} == {1}
    assert {kind for (kind,) in kinds} >= {"text", "code", "exercise"}


def test_an_entry_is_of_a_lesson():
    assert set(OVER) <= set(LESSONS)
