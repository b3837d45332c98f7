"""Where files are: few at the top of `course`, no more lines than a package may have, and no circle of imports."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from grading.plugin import PLUGINS

from .support.repository import ROOT

#: Package of `grading` -> the lines of Python that it may have, so that it cannot grow back; "": modules at the top
MOST_LINES = {
    "": 850,
    "authoring": 2050,
    "class_report": 1050,
    "cli": 1450,
    "coordinator": 2660,
    "course_dir": 1900,
    "exercises": 1750,
    "feedback": 450,
    "gradebook": 1350,
    "grader": 1500,
    "judge": 2850,
    "nbgrader_plugins": 1270,
    "notebooks": 2400,
    "plugins": 10550,
    "proof": 2000,
    "sandbox": 3300,
    "submitted": 1150,
}


def modules() -> dict[str, Path]:
    """Dotted name -> file, of both distributions."""
    files = [path for package in ("course", "grading") for path in (ROOT / package).rglob("*.py")]
    return {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in files}


def imported_first(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when the module is imported, without those for type checkers."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.With):
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def dependencies(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in imported_first(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            continue
        above = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        found |= {full if (full := f"{base}.{alias.name}") in known else base for alias in node.names}
    return (found & known.keys()) - {name}


def test_no_two_modules_import_each_other():
    known = modules()
    graph = {name: dependencies(name, path, known) for name, path in known.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(known)  # raises CycleError, with the circle


def test_no_package_of_the_engine_has_more_lines_than_its_budget():
    lines = Counter[str]()
    for path in (ROOT / "grading").rglob("*.py"):
        package, *inside = path.relative_to(ROOT / "grading").parts
        lines[package if inside else ""] += len(path.read_text(encoding="utf-8").splitlines())
    assert lines.keys() == MOST_LINES.keys()
    assert {name: (count, MOST_LINES[name]) for name, count in lines.items() if count > MOST_LINES[name]} == {}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plug_in_names_its_page_in_the_docs(name):
    pages = re.findall(r"\bdocs/\w+\.md", import_module(name).__doc__ or "")
    assert pages and all((ROOT / page).is_file() for page in pages)


def test_few_files_lie_at_the_top_of_the_students_package():
    assert len(list((ROOT / "course").glob("*.py"))) <= 13
