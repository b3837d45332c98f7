"""A course whose lessons are released, and a class of three, graded once: what tests of a class start from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.coordinator.grade_class import grade_class
from grading.coordinator.release import release_lessons
from grading.exercises.lesson import load_lesson

from ..support.tiny_course import LESSONS, make_course

ONE = LESSONS[0]
ANSWERS = {
    "ada": None,
    "bob": "def double(x):\n    return x * x",
    "cem": "def double(x):\n    return (2 * x).detach()",
}


@pytest.fixture(scope="session")
def released(once: Callable[..., Path]) -> Path:
    """Do not change it."""
    return once("class", lambda root: release_lessons(make_course(root), [], Console(quiet=True)))


@pytest.fixture
def course(released: Path, renewed: Callable[[Path], Path]) -> Path:
    """A course in which both lessons are released and nothing is handed in."""
    return renewed(released)


@pytest.fixture(scope="session")
def class_of_three(released: Path, once: Callable[..., Path]) -> Path:
    """A course with three grades: ada's 5 points, bob's none, cem's 3 for what has no gradient. Do not change it."""

    def graded(root: Path) -> None:
        shutil.copytree(released, root, dirs_exist_ok=True)
        release = nbformat.read(root / "release" / ONE / f"{ONE}.ipynb", as_version=4)
        answers = correct_answers(load_lesson(root / "grader_tests" / ONE), 0)
        for student, answer in ANSWERS.items():
            hand_in(root, ONE, student, write_answers(release, answers | ({"double": answer} if answer else {})))
        assert not grade_class(root, [ONE], Console(quiet=True)).failed

    return once("three", graded)


@pytest.fixture
def course_of_three(class_of_three: Path, renewed: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which commands are given, before a wide terminal."""
    root = renewed(class_of_three)
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    return root
