"""Signs that an answer is made for the grader: a table of cases, or a spy that keeps what it is asked.

They cost no points. The class report lists them, and a person decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .source_analysis import DEFINITIONS, NotebookSource, free_names
from .verdict import LITERALS, SPY

MOST_CONSTANTS = 300  # in all that an answer reaches; the longest known answer has some 60
LONGEST_TEXT = 3_000  # characters of one text or bytes constant
KEEPING = {"append", "extend", "add", "update", "insert", "setdefault", "write", "dump", "save"}


def signs_of(source: NotebookSource, name: str) -> list[str]:
    """The signs in the code that the answer `name` reaches."""
    statements = [statement for reached in source.reachable(name) for statement in source.definitions[reached]]
    constants = [n.value for s in statements for n in ast.walk(s) if isinstance(n, ast.Constant)]
    texts = [value for value in constants if isinstance(value, (str, bytes))]
    found = []
    if len(constants) > MOST_CONSTANTS or any(len(text) > LONGEST_TEXT for text in texts):
        found.append(LITERALS)
    functions = [s for s in statements if isinstance(s, DEFINITIONS)]
    outside = {n for n in source.reachable(name) if not isinstance(source.definitions[n][0], DEFINITIONS)}
    if any(_keeps(node, outside & free_names(function)) for function in functions for node in ast.walk(function)):
        found.append(SPY)
    return found


def _keeps(node: ast.AST, outside: frozenset[str] | set[str]) -> bool:
    """Whether the node puts something into one of the notebook's own objects, or into a file."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPING:
        return bool(outside & set(_names(node.func.value))) or node.func.attr in ("dump", "save")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "open"
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return any(isinstance(t, (ast.Subscript, ast.Attribute)) and outside & set(_names(t.value)) for t in targets)


def _names(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
