"""From a link to a lesson that runs: the published notebook alone in an empty folder, where there is no `course` yet.

`make test-install` does it for all lessons in environments of other shapes (tests/support/install_walk.py); here one
does, in these versions.
"""

from __future__ import annotations

import ast
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from packaging.utils import canonicalize_name

from grading.coordinator.converters import autograde
from grading.coordinator.demo_class import as_colab_saves, correct_answers, hand_in, write_answers
from grading.course import Course
from grading.exercises.lesson import load_lesson

from .support import colab_versions, install_walk
from .support.installed import demanded, linked
from .support.repository import ROOT

LESSON = "01_dot_products"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which everything is there but the course's package."""
    ours = {"attention-course": distribution("attention-course")}
    needed = {**demanded("attention-course", ours), **demanded("ipykernel", {})}
    folder = tmp_path_factory.mktemp("fresh") / "environment"
    return linked(folder, [found for name, found in needed.items() if name not in ours], with_pip=True)


@pytest.mark.full("installs the course into a new environment")
def test_a_lesson_runs_untouched_and_solved_from_its_link(fresh, released_course):
    walked = list(install_walk.road(fresh, [LESSON], released_course(LESSON)))
    assert [(one.state, one.error) for one in walked] == [("untouched", ""), ("solved", "")]
    assert all(0 < one.first < one.figure < one.seconds and 0.1 < one.megabytes < 20 for one in walked)


@pytest.mark.full("installs the course into a new environment")
def test_a_notebook_whose_wheel_is_not_beside_it_says_so_and_shows_no_traceback(fresh, released_course, tmp_path):
    notebook = nbformat.read(released_course(LESSON) / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    with pytest.raises(CellExecutionError):
        install_walk.run_all(notebook, fresh, tmp_path)
    (output,) = next(cell for cell in notebook.cells if cell["id"] == "set-up").outputs
    (told,) = output.traceback
    assert told.startswith("Not ready: it needs the file attention_course-")
    assert len(told.splitlines()) == 1


@pytest.mark.full("installs the course into a new environment")
def test_a_wheel_beside_the_notebook_is_installed_and_nothing_else_is_changed(fresh, released_course, tmp_path):
    notebook = nbformat.read(released_course(LESSON) / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    notebook.cells = notebook.cells[:3]  # the title, the first cell, and the imports
    install_walk.make_wheel(tmp_path, {}, {})
    before = install_walk.versions(fresh)
    try:
        install_walk.run_all(notebook, fresh, tmp_path)
        assert install_walk.versions(fresh) == before
    finally:  # other tests share this environment, and expect that the package is missing
        install_walk.pip_run(fresh, "uninstall", "--yes", "attention-course")
    told = [[output.get("text") for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]
    assert told == [["Installing the package of this course. This can take a minute.\n"], []]


def test_what_comes_back_from_colab_is_graded_as_if_it_had_never_been_there(released_course, tmp_path):
    root = released_course(LESSON)
    answers = correct_answers(load_lesson(ROOT / "grader_tests" / LESSON), 0)
    with install_walk.published(root) as (folder, _):
        notebook = write_answers(nbformat.read(folder / f"{LESSON}.ipynb", as_version=4), answers)
    for student, one in (("here", notebook), ("colab", as_colab_saves(notebook))):
        hand_in(root, LESSON, f"road-{student}", one)
        autograde(Course(root), LESSON, f"road-{student}")
    found = Course(root).scores()
    assert found["road-here", LESSON] == found["road-colab", LESSON] == (20.0, 20.0)


def test_what_changed_in_colab_is_reported():
    of_colab = "Python 3.13.15\ntorch @ https://example.org/torch-2.11.0%2Bcpu-cp313-cp313-linux.whl\n"
    of_colab += (
        "\n".join(one for one in colab_versions.COLAB if not one.startswith("torch=")) + "\ntorchvision==0.26.0\n"
    )
    assert colab_versions.differences(of_colab) == []
    later = of_colab.replace("3.13.15", "3.14.2").replace("2.11.0%2B", "2.12.1%2B").replace("pillow==", "pillow-simd==")
    assert colab_versions.differences(later) == [
        "Python: expected 3.13, got 3.14",
        "torch: expected 2.11.0, got 2.12.1",
        "pillow: expected 11.3.0, got None",
    ]


def test_an_environment_needs_its_own_python(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert install_walk.find_python(here) == Path(sys.executable)
    with pytest.raises(SystemExit, match=r"^Python 3\.98 not found: put python3\.98 on PATH, or run"):
        install_walk.find_python("3.98")
    pyenv = tmp_path / "versions" / "3.98.1" / "bin" / "python"
    pyenv.parent.mkdir(parents=True)
    pyenv.write_text("#!/bin/sh\necho 3.98\n")
    pyenv.chmod(0o755)
    assert install_walk.find_python("3.98") == pyenv
    (tmp_path / "made" / "bin").mkdir(parents=True)
    (tmp_path / "made" / "bin" / "python").symlink_to(pyenv)
    with pytest.raises(SystemExit, match=r"made: expected Python 3\.13, got Python 3\.98\. Delete this folder\.$"):
        install_walk.environment(tmp_path / "made", "3.13", [])


def test_the_lowest_versions_are_those_that_the_package_declares():
    found = dict(one.split("==") for one in install_walk.lowest())
    declared = [
        line.split(";")[0].strip() for line in distribution("attention-course").requires or [] if "extra" not in line
    ]
    assert {f"{name}>={number}" for name, number in found.items()} == {one for one in declared if ">=" in one}


def imported(path: Path) -> set[str]:
    """The packages that a file imports, at its top or later, itself or by a helper of the tests."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            module = path.parents[node.level - 1].joinpath(*(node.module or "").split(".")).with_suffix(".py")
            found |= imported(module) if module.is_file() else set()
    return found


def test_all_tests_that_need_no_more_than_the_students_package_run_with_the_lowest_versions():
    ours = {"attention-course": distribution("attention-course")}
    wanted = ["attention-course", *(one.split("==")[0] for one in install_walk.TO_TEST)]
    there = {name for one in wanted for name in demanded(one, ours)}
    modules = {
        module for module, names in packages_distributions().items() if there & {canonicalize_name(n) for n in names}
    }
    modules |= {"course", "tools", *sys.stdlib_module_names}
    chosen = install_walk.course_test_files()
    for path in (ROOT / "tests" / "course").rglob("test_*.py"):
        more = imported(path) - modules
        acts = "acting" in path.read_text(encoding="utf-8")  # a fixture whose course the engine makes
        assert (path in chosen) == (not more and not acts), (path, more)
