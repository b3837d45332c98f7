"""Where a notebook has several versions of an answer, the learner hears which one the grade takes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.notebook import catalog
from course.notebook.saved_notebook import versions_of
from grading.course import Course
from grading.plugins.platforms.grade_file import grade_file

from ..support.course_builder import TINY_LESSONS, solved_notebook
from ..support.repository import ROOT

ONE, _ = TINY_LESSONS
RIGHT = "def double(x):\n    return 2 * x"
WRONG = "def double(x):\n    return x * x"
RENAMED = "def better(x):\n    return 2 * x\ndouble = better"
Cells = list[Any]


def place(cells: Cells, grade_id: str) -> int:
    return next(n for n, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def own(cells: Cells, source: str) -> None:
    cells[place(cells, "double")].source = source


def put(cells: Cells, source: str, before: str = "") -> None:
    cells.insert(place(cells, before) if before else len(cells), new_code_cell(source))


FORMS: dict[str, Callable[[Cells, str], object]] = {
    "at the end": lambda cells, _: (own(cells, WRONG), put(cells, RIGHT)),
    "another name at the end": lambda cells, _: (own(cells, WRONG), put(cells, RENAMED)),
    "timed, at the end": lambda cells, _: (own(cells, WRONG), put(cells, f"%%time\n{RIGHT}")),
    "a wrong one at the end": lambda cells, _: (own(cells, RIGHT), put(cells, WRONG)),
    "between the cell and its check": lambda cells, _: (own(cells, WRONG), put(cells, RENAMED, "check_double")),
    "above": lambda cells, _: (own(cells, WRONG), put(cells, RIGHT, "double")),
    "above a cell that is as released": lambda cells, stub: (own(cells, stub), put(cells, RIGHT, "double")),
    "below a cell that is as released": lambda cells, stub: (own(cells, stub), put(cells, WRONG), put(cells, RIGHT)),
    "below a comment": lambda cells, stub: (own(cells, f"{stub}\n# see below"), put(cells, RIGHT)),
    "below half an answer": lambda cells, stub: (
        own(cells, stub.replace("raise", "y = x\n    raise")),
        put(cells, RIGHT),
    ),
    "below an empty cell": lambda cells, _: (own(cells, ""), put(cells, RIGHT)),
    "twice in its cell": lambda cells, _: own(cells, f"{WRONG}\n\n{RIGHT}"),
    "with a syntax error at the end": lambda cells, _: (own(cells, RIGHT), put(cells, "def double(x)\n    return 1")),
}


@pytest.mark.quick_cases("at the end", "below a comment", "between the cell and its check")
@pytest.mark.parametrize("form", FORMS)
def test_the_version_that_is_named_is_the_one_that_is_graded(course, tmp_path, sandboxed, form):
    released = nbformat.read(course / "release" / ONE / f"{ONE}.ipynb", as_version=4)
    stub = released.cells[place(released.cells, "double")].source
    notebook = solved_notebook(course, ONE)
    FORMS[form](notebook.cells, stub)
    nbformat.write(notebook, tmp_path / f"{ONE}.ipynb")
    found = versions_of(copy.deepcopy(notebook.cells), "double", stub)
    assert found is not None
    expected = 5 if "2 * x" in notebook.cells[found.counts].source else 0
    assert grade_file(Course(course), tmp_path / f"{ONE}.ipynb", ONE).earned == expected


def test_no_lesson_defines_an_answer_twice_by_itself():
    for lesson in catalog.lessons():
        cells = nbformat.read(ROOT / "release" / lesson / f"{lesson}.ipynb", as_version=4).cells
        for name in catalog.exercises_of(lesson):
            assert versions_of(cells, name, catalog.stubs_of(lesson).get(name, "")) is None, (lesson, name)


def test_a_version_from_a_file_of_ones_own_is_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(RIGHT)
    cells = [new_code_cell("from mine import double")]
    found = versions_of(cells, "double", "")
    assert found is not None
    assert "`double` comes from the file mine.py, which is not part of the notebook." in found.sentences(["it"])[0]
    copied = versions_of([new_code_cell(RIGHT)], "double", "")  # as it says
    assert copied is not None and copied.sentences(["it"]) == ("", "")
    Path("mine.py").unlink()  # an installed module
    assert found.sentences(["it"]) == ("", "")
