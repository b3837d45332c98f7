"""Cells that ran in this kernel, from IPython's history, and the names in them."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from ..report import shell


def recent_cells() -> Iterator[str]:
    """Yield the source of the cells that ran, the running one first."""
    history = getattr(shell(), "history_manager", None)
    yield from reversed(history.input_hist_raw if history else [])


def mentions(code: str, name: str) -> bool:
    """Whether code defines or uses a name (if it cannot be parsed: has the word)."""
    if name not in code:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return bool(re.search(rf"(?<![\w.]){name}\b", code))
    defined = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return name in defined | {node.id for node in nodes if isinstance(node, ast.Name)}
