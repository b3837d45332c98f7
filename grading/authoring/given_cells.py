"""Export which code cells came with a lesson, and which earlier exercises they use.

While such a cell runs, the learner's session has stand-ins under the names of exercises and steps
(`course.notebook.stand_ins`). Cells for answers are not given, nor are those that only call `check` or the like.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import lru_cache

from nbformat import NotebookNode

from course.notebook import catalog
from course.notebook.stand_ins import cell_hash
from course.outline import counts

from ..grader.cell_code import defines, parse
from ..notebooks.cells import grade_id

CALLS = {"check", "hint", "solution", "progress", "hand_in"}


def given_data(notebook: NotebookNode, lesson: str, answered: set[str]) -> bytes:
    """The hashes of a built notebook's given cells, and the earlier exercises that they read, as JSON.

    answered  steps, which have cells for answers without a mark of nbgrader's
    """
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    answers = {next((text for text in code if defines(text, name)), "") for name in answered}
    given = [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and not grade_id(cell) and cell.source not in answers and _does_more(cell.source)
    ]
    bound = {name for text in code for name in _bound(text)}
    read = {name for text in given for name in _read(text)} - bound
    earlier = {name: known for name, known in earlier_exercises(lesson).items() if name in read}
    data = {"cells": sorted({cell_hash(text) for text in given} - {""}), "earlier": earlier}
    return (json.dumps(data, indent=1) + "\n").encode()


@lru_cache
def earlier_exercises(lesson: str) -> dict[str, str]:
    """The exercises of the package's lessons before this one, with their lessons; before a warm-up there are none."""
    if not counts(lesson):
        return {}
    files = sorted(path for path in catalog.EXAMPLES.glob(f"*{catalog.ENDING}") if path.stem < lesson)
    return {name: path.stem for path in files for name in catalog.read_examples(path)["exercises"]}


def _does_more(text: str) -> bool:
    """Whether a cell does more than call `check` or the like."""
    tree = parse(text)
    calls = (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id in CALLS
        for statement in (tree.body if tree else ())
    )
    return not all(calls)


def _nodes(text: str) -> Iterator[ast.AST]:
    tree = parse(text)
    return ast.walk(tree) if tree else iter(())


def _read(text: str) -> set[str]:
    return {node.id for node in _nodes(text) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(text: str) -> set[str]:
    """The names that code binds anywhere, also as arguments and in functions."""
    found = set[str]()
    for node in _nodes(text):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found
