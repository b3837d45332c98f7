"""A course that was begun with the wheels of version 0.1.0 works with today's: its notebooks, graders and settings.

tests/data/course-0.1.0.zip is that course, with three lessons released, handed in and graded. Its `nbgrader_config.py`,
`grader_tests/` and notebooks use the names of version 0.1.
"""

from __future__ import annotations

import ast
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from grading.coordinator.nbgrader_api import autograde, scores

from .support.repository import ROOT
from .support.run_notebook import run, shorten_training

LESSONS = ("02_softmax", "05_causal_mask", "08_training")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    shutil.unpack_archive(ROOT / "tests" / "data" / "course-0.1.0.zip", tmp_path)
    return tmp_path / "course-0.1.0"


@pytest.mark.full
@pytest.mark.parametrize("lesson", LESSONS)
def test_what_students_hand_in_is_graded_as_before(course, lesson, sandboxed):
    for student in ("ada", "ben"):  # right answers, and an untouched notebook
        shutil.copytree(course / "submitted" / student / lesson, course / "submitted" / f"{student}-again" / lesson)
        autograde(course, lesson, f"{student}-again")
    found = scores(course)
    assert found["ada-again", lesson] == found["ada", lesson] == (20, 20)
    assert found["ben-again", lesson] == found["ben", lesson] == (0, 20)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_name_of_the_package_that_a_released_notebook_uses_is_there(course, lesson):
    notebook = nbformat.read(course / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    nodes = [node for cell in notebook.cells if cell.cell_type == "code" for node in ast.walk(ast.parse(cell.source))]
    names = {
        alias.asname or alias.name: getattr(import_module(node.module), alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "course"
        for alias in node.names
    }
    assert len(names) > 5
    for node in nodes:
        if isinstance(node, ast.Attribute):
            resolve(node, names)


def resolve(node: ast.expr, names: dict[str, object]) -> object:
    """What a dotted name stands for, looked up in modules; raises AttributeError if a module lacks it."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    owner = resolve(node.value, names) if isinstance(node, ast.Attribute) else None
    return getattr(owner, node.attr) if isinstance(owner, ModuleType) else None


@pytest.mark.full("runs whole notebooks in real kernels")
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_released_notebook_runs_from_top_to_bottom(course, lesson):
    folder = course / "release" / lesson
    notebook = shorten_training(nbformat.read(folder / f"{lesson}.ipynb", as_version=4))
    (set_up,) = (cell for cell in notebook.cells if cell.get("id") == "set-up")
    set_up.source = ""  # it would install version 0.1.0
    run(notebook, folder)
