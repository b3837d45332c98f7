"""What a cell of a notebook says by its marks and its code; said here once, for the build, the judge and the plug-ins.

A grade cell is known by its grade_id, `check_` and the exercise's name; what stands between the marks of hidden tests
is not the student's to see. Code is read, never run.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

RECORD = "attention_course"  # the key of our metadata in a notebook, and of the same in nbconvert's resources
CHECK = "check_"  # the grade cell of the exercise `dot` is called check_dot
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"  # nbgrader's marks, each on its own line
HIDDEN = re.compile(rf"^[^\n]*{BEGIN_HIDDEN}.*?(?:{END_HIDDEN}[^\n]*\n?|\Z)", re.DOTALL | re.MULTILINE)
MAGIC = re.compile(r"^([ \t]*)[%!?].*$|^([ \t]*)\S+\?{1,2}[ \t]*$", re.MULTILINE)
MAX_PARSED = 1_000_000  # characters


def grade_id(cell: Mapping[str, Any]) -> str:
    """The name that nbgrader's metadata give a cell; "" where they give none, or are not what they should be."""
    marks = cell["metadata"].get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, Mapping) else None
    return name if isinstance(name, str) else ""


def check_of(exercise: str) -> str:
    """The grade_id of the cell that judges an exercise."""
    return CHECK + exercise


def exercise_named(name: str) -> str:
    """The exercise that the grade cell with this grade_id judges."""
    return name.removeprefix(CHECK)


def exercise_of(cell: Mapping[str, Any]) -> str:
    """The exercise that a grade cell judges."""
    return exercise_named(grade_id(cell))


def check_call(exercise: str) -> str:
    """The line with which every grade cell begins, and the one that a student sees."""
    return f"check({exercise})"


def visible(source: str) -> str:
    """A grade cell's text without its hidden tests."""
    return HIDDEN.sub("", source).rstrip()


def defines(source: str, name: str) -> bool:
    """Whether the code binds `name` at its top level; a cell with a syntax error counts by its `def` line."""
    if name not in source:
        return False
    tree = parse(source)
    if tree is None:
        line = rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b"
        return re.search(line, source, re.MULTILINE) is not None
    return name in bound_names(tree)


def same_code(one: str, other: str) -> bool:
    """Whether two texts are the same code, apart from comments, blank lines and line ends."""
    if one.strip() == other.strip():
        return True
    if len(one) > 2 * len(other) + 1_000:
        return False
    first, second = parse(one), parse(other)
    return first is not None and second is not None and bool(first.body) and ast.dump(first) == ast.dump(second)


def parse(source: str) -> ast.Module | None:
    """The code of a cell, its magics and shell lines left out; None where it is not Python."""
    if len(source) > MAX_PARSED:
        return None
    for text in dict.fromkeys((source, MAGIC.sub(r"\1\2pass", source))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def bound_names(tree: ast.Module) -> set[str]:
    """The names that running the code binds, not looking into functions and classes."""
    names, todo = set(), list[ast.AST](tree.body)
    while todo:  # a student's code may be nested deeper than Python's stack
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return names
