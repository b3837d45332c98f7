"""Code on its way into a learner's process, where it has to run and is not to be read.

A stand-in (`Program.stand_ins`) computes what the oracle does, to the last bit and with its gradients, so its code goes
where the learner's own functions look it up. It goes compiled: no source, docstring, comment, file or line comes with
it. What remains is its instructions, and the names in them, for whoever disassembles them (docs/security.md).

Does not cover: where it is put (`running`). Only what the judge sends is opened; nothing of a kernel's ever is.
"""

from __future__ import annotations

import ast
import base64
import importlib.util
import marshal
from types import CodeType

FILE = "/course/stand-in"  # there is none; a traceback's line is then the learner's own, see `errors.describe`


def compile_stand_in(source: str) -> str:
    """The code as text that `unsealed` opens. Raises SyntaxError."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            _without_docstring(node)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.alias, ast.ExceptHandler, ast.pattern)):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
    code = compile(tree, FILE, "exec", dont_inherit=True, optimize=0)
    return base64.b64encode(importlib.util.MAGIC_NUMBER + marshal.dumps(code)).decode()


def load_stand_in(sealed: str) -> CodeType:
    """What `seal` made. Raises ValueError where another version of Python did."""
    data = base64.b64decode(sealed)
    size = len(importlib.util.MAGIC_NUMBER)
    if data[:size] != importlib.util.MAGIC_NUMBER:
        raise ValueError("the kernel's version of Python is not the judge's")
    code: CodeType = marshal.loads(data[size:])  # the judge made it
    return code


def _without_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if ast.get_docstring(node, clean=False) is not None:
        node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
