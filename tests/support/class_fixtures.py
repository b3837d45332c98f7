"""Fixtures for a class: released lessons, with or without three graded students. Folders of tests import them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .course_builder import TINY_LESSONS, build_course, grade_lesson, submit_class

THREE = {  # student -> answers that replace correct ones
    "ada": {},
    "bob": {"double": "def double(x):\n    return x * x"},
    "cem": {"double": "def double(x):\n    return (2 * x).detach()"},
}


@pytest.fixture(scope="session")
def tiny_course(build_once: Callable[..., Path]) -> Path:
    """Two tiny lessons, released. Do not change it; `course` is a copy."""
    return build_once("tiny", lambda root: build_course(root, release=True))


@pytest.fixture
def course(tiny_course: Path, fresh_copy: Callable[[Path], Path]) -> Path:
    """A course with both lessons released and no submission."""
    return fresh_copy(tiny_course)


@pytest.fixture(scope="session")
def class_of_three(tiny_course: Path, build_course_once: Callable[..., Path]) -> Path:
    """A course with three grades; do not change it.

    ada has 5 points, bob 0, and cem 3 (no gradient).
    """

    def build(root: Path) -> None:
        shutil.copytree(tiny_course, root, dirs_exist_ok=True)
        submit_class(root, TINY_LESSONS[0], THREE)
        grade_lesson(root, TINY_LESSONS[0])

    return build_course_once("three", build)


@pytest.fixture
def course_of_three(class_of_three: Path, fresh_copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `class_of_three` as the current directory, with a wide terminal."""
    root = fresh_copy(class_of_three)
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    return root
