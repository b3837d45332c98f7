"""Compiled stand-ins: code that a learner's process can run but not read.

A stand-in (`Program.stand_ins`) computes exactly what the reference does, gradients included, and is put where the
learner's own functions look up their globals. It travels compiled, without source, docstrings, comments, file names or
line numbers. Its instructions and the names in them can still be disassembled (docs/security.md).

Does not cover: where a stand-in is put (`course.harness.runner`). Only the judge's own bytes are loaded, never a
kernel's.
"""

from __future__ import annotations

import ast
import base64
import importlib.util
import marshal
from types import CodeType

FILE = "/course/stand-in"  # no such file, so a traceback shows the learner's own line, see `course.harness.errors`


def compile_stand_in(source: str) -> str:
    """Compile source to text that `load_stand_in` reads. Raises SyntaxError."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            _remove_docstring(node)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.alias, ast.ExceptHandler, ast.pattern)):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
    code = compile(tree, FILE, "exec", dont_inherit=True, optimize=0)
    return base64.b64encode(importlib.util.MAGIC_NUMBER + marshal.dumps(code)).decode()


def load_stand_in(sealed: str) -> CodeType:
    """Load a compiled stand-in. Raises ValueError if Python's version differs."""
    data = base64.b64decode(sealed)
    size = len(importlib.util.MAGIC_NUMBER)
    if data[:size] != importlib.util.MAGIC_NUMBER:
        raise ValueError("the kernel's version of Python is not the judge's")
    code: CodeType = marshal.loads(data[size:])  # made by the judge
    return code


def _remove_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if ast.get_docstring(node, clean=False) is not None:
        node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
