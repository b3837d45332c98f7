"""The tree of grading's exceptions: complete, shown in its docstring, and picklable."""

from __future__ import annotations

import ast
import inspect
import pickle
import re

import pytest

from grading import errors, sandbox

from .support.repository import ROOT

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("kind", [*ALL, sandbox.SandboxUnavailable, sandbox.SandboxLost])
def test_an_exception_survives_pickling(kind):
    error = kind("what happened")
    crossed = pickle.loads(pickle.dumps(error))
    assert type(crossed) is kind
    assert (crossed.args, str(crossed)) == (error.args, str(error))


def test_the_docstring_shows_the_tree():
    shown = dict[str, str]()
    path = list[str]()
    for line in re.findall(r"^    ([│├└─ ]*\w+Error|[│├└─ ]*\w+)\b", errors.__doc__ or "", re.M):
        name = line.lstrip("│├└─ ")
        depth = (len(line) - len(name)) // 4
        path[depth:] = [name]
        shown[name] = path[depth - 1] if depth else "Exception"
    assert shown == {kind.__name__: kind.__base__.__name__ for kind in ALL}


COPIED = ("setup_cell.py", "autograder.py")  # they run elsewhere, without the package


@pytest.mark.full
def test_no_other_module_of_grading_defines_an_exception():
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in sorted((ROOT / "grading").rglob("*.py"))
        if path.name not in ("errors.py", *COPIED) and "sandbox" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if re.search(r"(Error|Exception)$", ast.unparse(base))
    ]
    assert not found
