"""Who may import whom, lint, types, and what importing `course` brings along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

BIN = Path(sys.executable).parent


@pytest.mark.parametrize("command", [["lint-imports"], ["ruff", "check", "."], ["mypy"]], ids=lambda c: c[0])
def test_the_tree_is_clean(command):
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_course_brings_nothing_of_the_engine_and_nothing_that_a_student_lacks():
    code = (
        "import sys, course.checking, course.protocol.running, course.figures, course.interactive, course.specimens\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert not {"grading", "grader_tests", "nbgrader", "nbconvert", "jupytext", "rich"} & set(done.stdout.split())


def test_grader_tests_import_the_description_of_exercises_only():
    for path in (ROOT / "grader_tests").glob("*.py"):
        ours = [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith(("from grading", "import grading", "from course", "import course"))
        ]
        assert all(line.startswith("from grading.judge.exercise import") for line in ours), path.name


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
    assert {"setup", "build", "release", "demo", "test", "grade", "feedback", "lab", "check", "clean"} <= told
