"""Who may import whom, lint, types, and what importing `course` brings along."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from .support.repository import ROOT

HAVE_DOCSTRINGS = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ASSIGNMENTS = ast.Assign | ast.AnnAssign
BIN = Path(sys.executable).parent

CHECKS = [
    "lint-imports",
    "ruff format --check .",
    "ruff check .",
    "mypy",
    "deptry course",
    "deptry grading --config grading/pyproject.toml",
]


@pytest.mark.parametrize("command", CHECKS)
def test_the_tree_is_clean(command):
    program, *arguments = command.split()
    done = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def trees() -> dict[Path, ast.Module]:
    """The code of this repository, without submissions, which may be broken, and lessons."""
    folders = ("course", "grading", "benchmarks", "tests", "tools", "grader_tests")
    paths = [p for folder in folders for p in (ROOT / folder).rglob("*.py") if "submissions" not in p.parts]
    gc.disable()  # two thirds of the time, for a million nodes that stay
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    finally:
        gc.freeze()
        gc.enable()


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


def made_and_wanted(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The private names that a module makes, of functions, classes, variables and attributes; and the names that it
    imports, looks up on an object, or writes as a whole string, as monkeypatches do."""
    made, wanted = set(), set()
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                made.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                made.add(name)
            case ast.Attribute(attr=name, ctx=context):
                (made if isinstance(context, ast.Store) else wanted).add(name)
            case ast.ImportFrom(names=aliases):
                wanted |= {alias.name for alias in aliases}
            case ast.Constant(value=str(text)) if id(node) not in parts:
                wanted.add(text)
    return set(filter(private, made)), set(filter(private, wanted))


def test_no_private_name_is_used_across_modules():
    names = {path: made_and_wanted(tree) for path, tree in trees().items()}
    ours = set().union(*(made for made, _ in names.values()))
    found = {
        f"{path.relative_to(ROOT)}: {name}" for path, (made, wanted) in names.items() for name in (wanted & ours) - made
    }
    assert not found


def stray_strings(tree: ast.AST) -> Iterator[int]:
    """The lines of strings that are statements, except docstrings and strings that document the assignment above."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for above, statement in pairwise([node, *block] if isinstance(block, list) else []):
                documents = isinstance(above, HAVE_DOCSTRINGS if above is node and name == "body" else ASSIGNMENTS)
                match statement:
                    case ast.Expr(ast.JoinedStr()):
                        yield statement.lineno
                    case ast.Expr(ast.Constant(str())) if not documents:
                        yield statement.lineno


def test_strings_that_are_statements_are_found():
    fine = '"""Doc."""\nx = 1\n"x: documented"\nclass A:\n    """Doc."""\n    y: int = 2\n    "documented"\n'
    stray = 'def f():\n    """Doc."""\n\n\n"a"\nif x:\n    "b"\nelse:\n    "c"\n    x = 3\n    f"d {x}"\nprint(f"e")\n'
    assert list(stray_strings(ast.parse(fine))) == []
    assert sorted(stray_strings(ast.parse(stray))) == [5, 7, 9, 11]


def test_no_string_is_a_statement():
    found = {f"{path.relative_to(ROOT)}:{line}" for path, tree in trees().items() for line in stray_strings(tree)}
    assert not found


def test_course_brings_nothing_of_the_engine_and_nothing_that_a_student_lacks():
    code = (
        "import sys, course.notebook.check, course.harness.runner\n"
        "import course.figures, course.sample_models, course.widgets.alive, course.widgets.sliders\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert not {"grading", "grader_tests", "nbgrader", "nbconvert", "jupytext", "rich"} & set(done.stdout.split())


def test_who_holds_the_gradebook_imports_nothing_that_only_judges_need():
    code = (
        "from grading.import_blocks import block_slow_imports; block_slow_imports()\n"
        "import sys, grading.cli.main, grading.coordinator.grade_class, grading.nbgrader_plugins.submission_exporter\n"
        "print(*{name for name, module in sys.modules.items() if module is not None})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert not {"torch", "matplotlib", "jupytext", "rfc3987_syntax"} & set(done.stdout.split())


def test_grader_tests_import_the_description_of_exercises_only():
    for path in (ROOT / "grader_tests").rglob("*.py"):
        ours = [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith(("from grading", "import grading", "from course", "import course"))
        ]
        assert all(line.startswith("from grading.exercises.exercise import") for line in ours), path.name


@pytest.mark.parametrize(
    "entry",
    [
        "pyproject.toml",
        "Makefile",
        "nbgrader_config.py",
        "constraints.txt",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "AGENTS.md",
        "CITATION.cff",
        "course",
        "source",
        "release",
        "autograded/.gitkeep",
        "grader_tests",
        "grading",
        "tests",
        "benchmarks",
        "docs",
    ],
)
def test_every_top_level_entry_is_committed(entry):
    done = subprocess.run(["git", "ls-files", entry], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip()


def test_every_verb_of_the_makefile_is_told_by_make_help():
    command = ["make", "--no-print-directory", "help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")}
    assert {"setup", "build", "release", "demo", "test", "grade", "feedback", "lab", "prove", "clean"} <= told
