"""Releasing to the exchange: the students' package goes along, and works where there is no network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from grading.course import Course
from grading.plugins.hub.exchange import CourseExchange

from ...support.course_builder import add_config, build_course
from ...support.exchange import Exchange
from ...support.installed import demanded, described, linked

LESSON = "01_dot_products"


@pytest.fixture
def released(tmp_path: Path) -> Callable[[str], Exchange]:
    """released(settings): the exchange of a course with these lines in nbgrader_config.py and a released lesson."""

    def release(settings: str = "") -> Exchange:
        root = build_course(tmp_path / "course", [LESSON], release=True)
        add_config(root, settings)
        return Exchange(root, tmp_path).open([LESSON])

    return release


@pytest.mark.full
def test_the_first_cells_of_a_fetched_notebook_run_without_a_network(released, tmp_path):
    folder = released().fetch("ada", LESSON)
    (wheel,) = folder.glob("*.whl")
    about = described(wheel)
    needed = demanded("attention-course", {"attention-course": about})
    others = [found for name, found in needed.items() if name != "attention-course"]
    python = linked(tmp_path / "environment", others, with_pip=True)
    cells = [cell for cell in nbformat.read(folder / f"{LESSON}.ipynb", as_version=4).cells if cell.cell_type == "code"]
    code = "\n".join(
        [*(cell.source for cell in cells[:2]), "import course; print(course.__version__, course.__file__)"]
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {"PATH": os.defpath, "HOME": str(home), "PIP_NO_INDEX": "1"}
    done = subprocess.run([python, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{about.version} {tmp_path / 'environment'}" in done.stdout


def test_the_package_is_not_handed_in_with_the_folder(released):
    exchange = released()
    folder = exchange.fetch("ada", LESSON)
    exchange.submit("ada", LESSON, nbformat.read(folder / f"{LESSON}.ipynb", as_version=4))
    courses = CourseExchange(Course(exchange.root))
    (waiting,) = courses.waiting()
    assert list(waiting.folder.glob("*.whl"))
    assert courses.collect(waiting)
    collected = {path.name for path in (exchange.root / "submitted/ada" / LESSON).iterdir()}
    assert f"{LESSON}.ipynb" in collected and not any(name.endswith(".whl") for name in collected)


def test_no_wheel_goes_along_where_the_package_comes_from_elsewhere(released):
    package = "https://example.org/attention_course-{version}-py3-none-any.whl"
    folder = released(f"c.Delivery.package = {package!r}").fetch("ada", LESSON)
    assert {path.name for path in folder.iterdir()} >= {f"{LESSON}.ipynb"} and not list(folder.glob("*.whl"))
