"""Where the package comes from: the setting, the first cell that it is written into, and what that cell does."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.authoring.student_install import (
    SET_UP,
    Delivery,
    PackageSource,
    delivery,
    first_cell,
    insert_setup_cell,
    origin,
)
from grading.errors import CourseError

from ..support.repository import ROOT

NOW = version("attention-course")
WHEEL = f"attention_course-{NOW}-py3-none-any.whl"
GITHUB = "https://github.com/you/attention"


def lesson(*code: str) -> NotebookNode:
    cells = [new_markdown_cell("# A title\n\nWords.", id="title"), *(new_code_cell(text) for text in code)]
    return new_notebook(cells=cells)


@pytest.mark.parametrize(
    ("package", "asked"),
    [
        ("", WHEEL),
        ("attention-course=={version}", f"attention-course=={NOW}"),
        (f"attention-course=={NOW}", f"attention-course=={NOW}"),
        (f"https://example.org/v{{version}}/{WHEEL}", f"https://example.org/v{NOW}/{WHEEL}"),
    ],
)
def test_one_setting_says_where_the_package_comes_from(package, asked):
    assert origin(Delivery(package=package)) == PackageSource(NOW, asked)


@pytest.mark.parametrize(
    ("package", "told"),
    [
        ("attention-course", "neither the URL of a wheel"),
        ("attention-course>=0.1", "neither the URL of a wheel"),
        ('https://example.org/"x"/attention_course-1-py3-none-any.whl', "neither the URL of a wheel"),
        ("attention-course==99.0", "neither the URL of a wheel"),
        ("https://example.org/attention_course-99.0-py3-none-any.whl", f"version {NOW} is installed here"),
    ],
)
def test_a_setting_that_leads_nowhere_is_refused_with_what_to_write(package, told):
    with pytest.raises(CourseError, match=re.escape("c.Delivery.package is ")) as raised:
        origin(Delivery(package=package))
    assert told in str(raised.value)


def test_the_setting_is_read_from_the_courses_own_file(tmp_path):
    text = (ROOT / "nbgrader_config.py").read_text() + f"\nc.Delivery.repository = '{GITHUB}/tree/autumn'\n"
    (tmp_path / "nbgrader_config.py").write_text(text)
    where = origin(delivery(tmp_path))
    assert (where.name, where.branch) == ("you/attention", "autumn")
    with pytest.raises(CourseError, match="no repository that Colab opens"):
        origin(Delivery(repository="https://example.org/you/attention"))


def test_the_cell_comes_before_the_first_use_once_and_the_badge_under_the_title():
    made, where = lesson("1 + 1", "from course import begin"), PackageSource(NOW, WHEEL, "you/attention")
    for _ in range(2):
        insert_setup_cell(made, "09_x.ipynb", where)
        assert [cell["id"] == SET_UP for cell in made.cells] == [False, False, True, False]
        link = "https://colab.research.google.com/github/you/attention/blob/main/09_x.ipynb"
        assert made.cells[0].source.count(link) == made.cells[0].source.count("![") == 1
        assert made.cells[0].source.startswith("# A title\n\n[![")
        assert made.cells[0].source.endswith("\n\nWords.")
    assert made.metadata.colab == {"provenance": [], "toc_visible": True}
    insert_setup_cell(made, "09_x.ipynb", PackageSource(NOW, "attention-course==0"))
    assert [cell.source for cell in made.cells if cell["id"] == SET_UP] == [
        first_cell(PackageSource(NOW, "attention-course==0"))
    ]


def test_a_lesson_that_does_not_use_the_package_is_left_as_it_is():
    made = lesson("1 + 1", "# of course")
    insert_setup_cell(made, "09_x.ipynb", PackageSource(NOW, WHEEL, "you/attention"))
    assert made == lesson("1 + 1", "# of course") or [c.source for c in made.cells[1:]] == ["1 + 1", "# of course"]


def run_first(python: Path | str, where: Path, cell: str, before: str = "") -> tuple[int, str]:
    """Run a first cell as a script; its exit status and its last words."""
    script = f"{before}\n{cell}\nprint('course' in __import__('sys').modules, 'set_up' in dir())"
    done = subprocess.run([str(python), "-c", script], cwd=where, capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


def test_where_the_package_is_there_nothing_is_installed_and_nothing_is_left_behind(tmp_path):
    cell = first_cell(PackageSource(NOW, "https://127.0.0.1:9/nowhere.whl"))
    assert run_first(sys.executable, tmp_path, cell) == (0, "True False")


def test_a_package_of_another_version_that_is_at_work_is_told_and_not_replaced(tmp_path):
    cell = first_cell(PackageSource("99.0", "https://127.0.0.1:9/nowhere.whl"))
    done = subprocess.run(
        [sys.executable, "-c", f"import course\n{cell}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        f"This notebook belongs to version 99.0 of the course's package, and {NOW} is at work."
    )


def test_something_else_called_course_is_named(tmp_path):
    (tmp_path / "course.py").write_text("")
    status, told = run_first(sys.executable, tmp_path, first_cell(PackageSource(NOW, WHEEL)))
    assert status == 1
    assert f"`course` is not the course's package here, but {tmp_path / 'course.py'}. Give that another name" in told


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with pip and nothing else."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.mark.slow
def test_without_pytorch_it_says_where_to_get_it_and_fetches_no_gigabytes(bare, tmp_path):
    status, told = run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)))
    assert status == 1
    assert told.endswith("(CPU is enough), then run this cell again.")
    assert "PyTorch is not installed here." in told


@pytest.mark.quick_cases("attention_course*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "told"),
    [
        (WHEEL, f"This notebook needs the file {WHEEL} beside it, which is not there. Get it from"),
        (f"http://127.0.0.1:9/{WHEEL}", "The package of this course could not be installed: "),
    ],
)
def test_what_cannot_be_had_is_told_in_two_sentences(bare, tmp_path, package, told):
    site = tmp_path / "site" / "torch-2.13.0.dist-info"  # all that pip and the cell look at
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n")
    before = f"import os, sys; sys.path.append({str(site.parent)!r}); os.environ['PIP_RETRIES'] = '0'"
    status, said = run_first(bare, tmp_path, first_cell(PackageSource(NOW, package)), before)
    assert status == 1
    assert told in said
    assert "Traceback" not in said
