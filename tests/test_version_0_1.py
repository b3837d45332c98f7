"""Notebooks that were released with version 0.1.0 find every name of the package that they use.

They are in tests/data/course-0.1.0.zip, a course of that version.
"""

from __future__ import annotations

import ast
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from .support.repository import ROOT

LESSONS = ("02_softmax", "05_causal_mask", "08_training")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    shutil.unpack_archive(ROOT / "tests" / "data" / "course-0.1.0.zip", tmp_path)
    return tmp_path / "course-0.1.0"


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
