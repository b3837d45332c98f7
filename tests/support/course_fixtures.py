"""Fixtures for courses: built once per run, and copied for tests that change them (pytest plugin)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from course.notebook import catalog
from grading.authoring.check_data import export_lesson
from grading.authoring.given_cells import given_data
from grading.authoring.lesson_text import read_lesson
from grading.authoring.predictions import experiment_data, prediction_data
from grading.exercises.lesson import load_lesson
from grading.judge import start_judge

from .course_builder import ACTING, TWO_EXERCISES, build_and_release, build_course, released_notebook
from .nbgrader_runner import course_config, run_converter
from .repository import LESSONS, SEED
from .shared_folders import BuildOnce
from .two_exercise_course import DOUBLE, HALVE, HOSTILE, LESSON, submit_file, with_answers


@pytest.fixture(scope="session")
def released_course(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`released_course(lesson)`: the root of a copy of this repository's course, after that lesson's release.

    The copy is the same for every test of this process, and nothing is handed in at first.
    """
    root = build_course(tmp_path_factory.mktemp("repository") / "course", LESSONS, seed=SEED)
    released: set[str] = set()

    def release(lesson: str) -> Path:
        if lesson not in released:
            build_and_release(root, lesson)
            released.add(lesson)
        return root

    return release


@pytest.fixture(scope="session")
def acting_data(build_once: BuildOnce) -> Path:
    """The course data of a lesson with predictions, a step and an experiment, as the package has it."""

    def build(root: Path) -> None:
        ACTING.write(root)
        tests = root / "grader_tests" / ACTING.name
        files = export_lesson(tests) | {
            f"{ACTING.name}{catalog.PREDICTIONS}": prediction_data(tests),
            f"{ACTING.name}{catalog.EXPERIMENTS}": experiment_data(tests),
            f"{ACTING.name}{catalog.GIVEN}": _given(root),
        }
        for name, content in files.items():
            (root / "data" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "data" / name).write_bytes(content)

    return build_once("acting-lesson", build) / "data"


def _given(root: Path) -> bytes:
    """Which cells of the lesson that acts are given."""
    steps = set(load_lesson(root / "grader_tests" / ACTING.name).steps)
    return given_data(read_lesson(root / "source" / f"{ACTING.name}.py"), ACTING.name, steps)


@pytest.fixture(scope="session")
def two_exercise_course(build_once: BuildOnce) -> Path:
    """A course of one small lesson with two exercises, released. Do not change it; `course` is a copy."""
    return build_once("two-exercises", lambda root: build_course(root, [TWO_EXERCISES], seed=SEED, release=True))


@pytest.fixture
def course(two_exercise_course: Path, fresh_copy: Callable[[Path], Path]) -> SimpleNamespace:
    """A copy of `two_exercise_course`: `root`, `lesson`, and `release`, the notebook that students get."""
    root = fresh_copy(two_exercise_course)
    return SimpleNamespace(root=root, lesson=LESSON, release=released_notebook(root, LESSON))


@pytest.fixture
def sanitize(course: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`sanitize(notebook or bytes)`: the notebook after autograde's sanitize step, with our reader and repair.

    The step runs in this process, as on a system that cannot fork, so that no judge grades what no test looks at.
    """
    monkeypatch.setattr(start_judge, "IN_PROCESS", True)
    config = course_config(course.root)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)

    def sanitized(submission: Any) -> Any:
        path = submit_file(course.root, "ada", submission)
        converter.exporter = converter.exporter_class(parent=converter, config=converter.config)
        converter._init_preprocessors()
        resources = converter.init_single_notebook_resources(str(path))
        output, _ = converter.exporter.from_filename(str(path), resources=resources)
        converter.exporter.let_go()
        return nbformat.reads(output, as_version=4)

    return sanitized


@pytest.fixture(scope="session")
def graded_course(two_exercise_course: Path, build_course_once: BuildOnce) -> SimpleNamespace:
    """A course after autograding a class (`CLASS`) in one go: `root` and `release`. Do not change it."""

    def build(root: Path) -> None:
        shutil.copytree(two_exercise_course, root, dirs_exist_ok=True)
        _submit_class(root, root.parent / "secret.ipynb")
        run_converter(Autograde, root)

    root = build_course_once("graded", build)
    return SimpleNamespace(root=root, release=released_notebook(root, LESSON))


def _submit_class(root: Path, secret: Path) -> None:
    """Hand in right, wrong, hostile and damaged notebooks; `secret` is a file that links in submissions point to."""
    release = released_notebook(root, LESSON)
    solved = with_answers(release, double=DOUBLE, halve=HALVE)
    submit_file(root, "ada", solved)
    submit_file(root, "ben", json.dumps(solved).encode("utf-16"))
    submit_file(root, "bob", with_answers(release, double="def double(x):\n    return x * x", **HOSTILE))
    submit_file(root, "cleo", json.dumps(solved).encode()[:-200])
    submit_file(root, "dan", dict(release))
    deleted = with_answers(release, double=DOUBLE)
    deleted["cells"] = [cell for cell in deleted["cells"] if cell["id"] != "check_double"]
    submit_file(root, "eve", deleted)
    submit_file(root, "fay", b"", name=f"{LESSON}.ipynb/notes.txt")  # a folder under the notebook's name
    secret.write_text(json.dumps(solved))
    for student, target in {"gus": secret, "hal": root / "nowhere"}.items():
        submit_file(root, student, b"an ordinary file beside it", name="notes.txt")
        (root / "submitted" / student / LESSON / f"{LESSON}.ipynb").symlink_to(target)
        (root / "submitted" / student / LESSON / "more.txt").symlink_to(secret)
