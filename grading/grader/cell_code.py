"""Reads the code of a notebook cell as IPython would run it, without running it.

Does not cover: what a cell says by its metadata (`grading.notebooks.cells`).
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

IPYTHON: Any = TransformerManager()
RUN_AS_CELL = ("time", "capture", "prun")  # cell magics, and line magics, that run code in the notebook's names
RUN_IN_LINE = ("time", "prun")
AUTOMAGIC = re.compile(rf"\s*({'|'.join(RUN_IN_LINE)})\s[^\n]*\s*")  # a cell of one line needs no percent sign
# What a stranger wrote is read within bounds, each far above what is written by hand. Lengths are in characters.
MAX_PARSED = 200_000  # of a cell
MAX_KEPT = 500_000  # of all cells whose trees are kept; a tree takes some three hundred bytes a character at worst
MAX_LINE = 1_000  # of a cell that has magics
MAX_TOKENIZED = 100_000  # over the readings of such a cell, one for each magic; but two are always made
MAX_MAGICS = 50
MAX_NESTED = 4  # magics that run magics
MAX_OPTIONS = 8  # words of a line magic before its code

kept_trees: dict[str, ast.Module | None] = {}


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
    """The code of a cell as IPython runs it, read once however often it is asked for; not to be changed.

    A line of IPython's own is the call that IPython makes of it; the code that `%%time` and its like run in the
    notebook's names stands in their place. None where nothing can be read: IPython compiles a cell whole before it
    runs any of it, so of a cell with a syntax error nothing ran and nothing counts, neither against an answer nor
    for one, and what was defined before it stands. None, too, for what no one writes by hand: code that is too long,
    too deep, or full of magics.
    """
    if source not in kept_trees:
        if sum(map(len, kept_trees)) + len(source) > MAX_KEPT:
            kept_trees.clear()
        kept_trees[source] = _parsed(source, MAX_NESTED)
    return kept_trees[source]


def _parsed(source: str, nested: int) -> ast.Module | None:
    if len(source) > MAX_PARSED or not nested:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _transformed(source)
            if tree is None and AUTOMAGIC.fullmatch(source):
                tree = _transformed("%" + source.strip())
            if tree is not None:
                _unfold(tree, nested)
            return tree
    except Exception:  # IPython shows whatever is raised while it reads a cell, and runs nothing of it
        return None


def _transformed(source: str) -> ast.Module | None:
    """As `TransformerManager.transform_cell`, which reads all anew for every line that it transforms: within bounds."""
    lines = (source + "\n").splitlines(keepends=True)
    for transform in (*IPYTHON.cleanup_transforms, *IPYTHON.line_transforms):
        lines = transform(lines)
    for _ in range(max(2, min(MAX_MAGICS, MAX_TOKENIZED // len(source or " ")))):
        try:
            return ast.parse("".join(lines))  # what is Python already has no line to transform
        except SyntaxError:
            if max(map(len, lines)) > MAX_LINE:  # IPython's patterns take quadratic time
                return None
            changed, lines = IPYTHON.do_one_token_transform(lines)
            if not changed:
                return None
    return None


def _unfold(tree: ast.Module, nested: int) -> None:
    """Put the code that magics run in the notebook's names in their place, in functions too."""
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                block[:] = [inner for statement in block for inner in _unfolded(statement, nested)]
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            code = _run_by(node.value, nested)
            if code is not None and len(code.body) == 1 and isinstance(code.body[0], ast.Expr):
                node.value = code.body[0].value


def _unfolded(statement: ast.stmt, nested: int) -> list[ast.stmt]:
    code = _run_by(statement.value, nested) if isinstance(statement, ast.Expr) else None
    return code.body if code is not None and code.body else [statement]


def _run_by(call: ast.expr, nested: int) -> ast.Module | None:
    """The code that a call of a magic runs; None where it runs none, or runs it elsewhere, as %timeit and %%bash do."""
    match call:
        case ast.Call(
            func=ast.Attribute(ast.Call(ast.Name("get_ipython")), "run_cell_magic"),
            args=[ast.Constant(name), ast.Constant(), ast.Constant(str(code))],
        ) if name in RUN_AS_CELL:
            return _parsed(code, nested - 1)
        case ast.Call(
            func=ast.Attribute(ast.Call(ast.Name("get_ipython")), "run_line_magic"),
            args=[ast.Constant(name), ast.Constant(str(line))],
        ) if name in RUN_IN_LINE:
            words = line.split(" ")
            options = min(len(words), MAX_OPTIONS) if line.startswith("-") else 1
            starts = (_parsed(" ".join(words[skipped:]), nested - 1) for skipped in range(options))
            return next((code for code in starts if code is not None), None)
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
