"""Where files are: few at the top of `course`, one meaning per file name, and no circle of imports."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from .support.repository import ROOT

#: Names that several folders of one distribution have, because the folder says which is meant
BY_FOLDER = {
    "attention.py",  # checkers, figures and sample models of attention
    "build.py",  # of lessons (authoring), of the site
    "cached.py",  # checkers and the sample model of a cache, of lesson 09
    "course.py",  # the object (grading), its verbs (cli)
    "circuits.py",  # checkers and the sample model of circuits, of lesson 11
    "models.py",  # checkers of models, sample models
    "sequences.py",  # figures and sample models of lesson 12
    "staged_model.py",  # the model of lessons 3 to 8 (notebook), its picture (figures)
    "tiles.py",  # checkers and figures of lesson 10
    "training.py",  # checkers and figures of lesson 08
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


@pytest.mark.parametrize("package", ["course", "grading"])
def test_a_file_name_has_one_meaning_unless_its_folder_says_which(package):
    folders = defaultdict(set)
    for path in (ROOT / package).rglob("*.py"):
        if path.name != "__init__.py":
            folders[path.name].add(path.parent)
    assert {name for name, found in folders.items() if len(found) > 1} <= BY_FOLDER


def test_few_files_lie_at_the_top_of_the_students_package():
    assert len(list((ROOT / "course").glob("*.py"))) <= 13
