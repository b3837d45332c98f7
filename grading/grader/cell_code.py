"""Parses a notebook cell's code as IPython would run it, without running it.

Does not cover: a cell's metadata (`grading.notebooks.cells`).
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

IPYTHON: Any = TransformerManager()
RUN_AS_CELL = ("time", "capture", "prun")  # cell magics, and line magics, that run code in the notebook's namespace
RUN_IN_LINE = ("time", "prun")
# Limits on untrusted code, each far above what people write. Lengths are in characters.
MAX_PARSED = 200_000  # of a cell
MAX_KEPT = 500_000  # of all cells with stored trees; a tree takes at most some three hundred bytes per character
MAX_LINE = 1_000  # of a cell that has magics
MAX_TOKENIZED = 100_000  # over the readings of such a cell, one per magic, but at least two
MAX_MAGICS = 50
MAX_NESTED = 4  # magics that run magics
MAX_OPTIONS = 8  # words of a line magic before its code

kept_trees: dict[str, ast.Module | None] = {}


def defines(source: str, name: str) -> bool:
    """Whether the code binds `name` at its top level; if unparsable, by `def` line, also behind a number or mark."""
    if name not in source:
        return False
    tree = parse(source)
    if tree is None:
        line = rf"^(?:(?:[^\w\s]|[\d\xa0])(?:[^\w\n]|\d)*)?(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b"
        return re.search(line, source, re.MULTILINE) is not None
    return name in bound_names(tree)


def same_code(one: str, other: str) -> bool:
    """Whether two texts are the same code, ignoring comments and blank lines."""
    if one.strip() == other.strip():
        return True
    if len(one) > 2 * len(other) + 1_000:
        return False
    first, second = parse(one), parse(other)
    return first is not None and second is not None and bool(first.body) and ast.dump(first) == ast.dump(second)


def parse(source: str) -> ast.Module | None:
    """Parse a cell as IPython runs it. The tree is cached: do not change it.

    A line of IPython's own becomes the call that IPython makes of it; code that `%%time` and the like run in the
    notebook's namespace replaces that call. None if nothing can be parsed: IPython compiles a whole cell before it runs
    any of it, so nothing in a cell with a syntax error ran; it counts neither for nor against an answer, and earlier
    definitions remain. None also for what nobody writes by hand: code that is too long, too deep, or full of magics.
    """
    try:
        return kept_trees[source]
    except KeyError:
        tree = _parse_nested(source, MAX_NESTED)
    if sum(map(len, tuple(kept_trees))) + len(source) > MAX_KEPT:  # a copy, since other threads add trees
        kept_trees.clear()
    kept_trees[source] = tree
    return tree


def _parse_nested(source: str, nested: int) -> ast.Module | None:
    if len(source) > MAX_PARSED or not nested:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _transform(source)
            if tree is None and _is_automagic(source.strip()):
                tree = _transform("%" + source.strip())
            if tree is not None:
                _unfold(tree, nested)
            return tree
    except Exception:  # IPython reports whatever is raised while it reads a cell, and runs nothing of the cell
        return None


def _is_automagic(line: str) -> bool:
    """Whether this is one line that runs code: a one-line cell needs no percent sign."""
    return "\n" not in line and line.split(maxsplit=1)[:1] in ([name] for name in RUN_IN_LINE)


def _transform(source: str) -> ast.Module | None:
    """`TransformerManager.transform_cell` with a limit on how often it rereads."""
    lines = (source + "\n").splitlines(keepends=True)
    for transform in (*IPYTHON.cleanup_transforms, *IPYTHON.line_transforms):
        lines = transform(lines)
    for _ in range(max(2, min(MAX_MAGICS, MAX_TOKENIZED // len(source or " ")))):
        try:
            return ast.parse("".join(lines))  # valid Python has no line to transform
        except SyntaxError:
            if max(map(len, lines)) > MAX_LINE:  # IPython's patterns take quadratic time
                return None
            changed, lines = IPYTHON.do_one_token_transform(lines)
            if not changed:
                return None
    return None


def _unfold(tree: ast.Module, nested: int) -> None:
    """Replace calls of magics with the code that they run, in functions too."""
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                block[:] = [inner for statement in block for inner in _unfold_statement(statement, nested)]
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            code = _run_by(node.value, nested)
            if code is not None and len(code.body) == 1 and isinstance(code.body[0], ast.Expr):
                node.value = code.body[0].value


def _unfold_statement(statement: ast.stmt, nested: int) -> list[ast.stmt]:
    code = _run_by(statement.value, nested) if isinstance(statement, ast.Expr) else None
    return code.body if code is not None and code.body else [statement]


def _run_by(call: ast.expr, nested: int) -> ast.Module | None:
    """The code that a magic runs in the notebook; None for %timeit, %%bash, …."""
    match call:
        case ast.Call(
            func=ast.Attribute(ast.Call(ast.Name("get_ipython")), "run_cell_magic"),
            args=[ast.Constant(name), ast.Constant(), ast.Constant(str(code))],
        ) if name in RUN_AS_CELL:
            return _parse_nested(code, nested - 1)
        case ast.Call(
            func=ast.Attribute(ast.Call(ast.Name("get_ipython")), "run_line_magic"),
            args=[ast.Constant(name), ast.Constant(str(line))],
        ) if name in RUN_IN_LINE:
            words = line.split(" ")
            options = min(len(words), MAX_OPTIONS) if line.startswith("-") else 1
            starts = (_parse_nested(" ".join(words[skipped:]), nested - 1) for skipped in range(options))
            return next((code for code in starts if code is not None), None)
    return None


def bound_names(tree: ast.Module) -> set[str]:
    """The names that the code binds, not looking into functions and classes."""
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
