"""The bug museum: each specimen is broken, its check sees that, and what the text says it was repairs it."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from grading.authoring.build import build_museum, notebook_of
from grading.authoring.lesson_text import read_lesson
from grading.authoring.student_install import Delivery, origin
from grading.authoring.student_repo import publish
from grading.course_dir.lessons import MUSEUM, list_lessons

from .support.repository import ROOT
from .support.run_notebook import run

TEXT = ROOT / "source" / f"{MUSEUM}.py"
FOLD = re.compile(r"<details><summary>What it was</summary>\n(.*?)</details>", re.DOTALL)
DIFF = re.compile(r"```diff\n(.*?)```", re.DOTALL)
CHANGE = re.compile(r"((?:^- .*\n)+)((?:^\+ .*\n)+)", re.MULTILINE)
HALL = re.compile(r"^## (\d)\. (.*)$", re.MULTILINE)


def shown(code: str, names: dict[str, Any]) -> str:
    """What a cell prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


def repaired(code: str, diff: str) -> str:
    """A specimen with the lines of a diff."""
    for old, new in CHANGE.findall(diff):
        before, after = ("".join(line[2:] for line in lines.splitlines(keepends=True)) for lines in (old, new))
        assert f"{code}\n".count(before) == 1, before
        code = f"{code}\n".replace(before, after).rstrip("\n")
    return code


def folds() -> Iterator[tuple[list[str], str]]:
    """For each fold, the code cells since the last one, and its text."""
    codes: list[str] = []
    for cell in read_lesson(TEXT).cells:
        if cell.cell_type == "code":
            codes.append(cell.source)
        elif found := FOLD.search(cell.source):
            yield codes, found[1]
            codes = []


def test_each_specimen_is_broken_and_what_it_was_repairs_it():
    names: dict[str, Any] = {}
    specimens = 0
    for codes, text in folds():
        *others, specimen, check = ["", *codes]
        printed = [shown(code, names) for code in (*others, specimen, check)]
        if diff := DIFF.search(text):
            specimens += 1
            assert printed[-1].startswith("✗ still broken: "), specimen
            mended = dict(names)
            shown(repaired(specimen, diff[1]), mended)
            assert shown(check, mended).startswith("✓ repaired: "), specimen
    assert specimens > 40


def test_each_specimen_has_a_link_and_the_halls_are_those_of_the_first_page():
    assert all("](https://github.com/" in text for _, text in folds())
    cells = [cell.source for cell in read_lesson(TEXT).cells if cell.cell_type == "markdown"]
    headings = [line for source in cells for line in source.splitlines() if line.startswith("### ")]
    assert len(headings) == len(set(headings)) == len(list(folds()))
    halls = [hall for source in cells for hall in HALL.findall(source)]
    assert halls == re.findall(r"^\| (\d) \| (.*) \|$", cells[0], re.MULTILINE)


def test_it_is_not_an_assignment_and_is_published_with_the_lessons(course, tmp_path):
    assert not build_museum(course.root)
    (course.root / "source" / TEXT.name).write_bytes(TEXT.read_bytes())
    assert build_museum(course.root)
    assert not build_museum(course.root)  # nothing has changed
    assert list_lessons(course.root, ordinary=True) == [course.lesson]
    publish(course.root, tmp_path / "students", origin(Delivery()))
    made = nbformat.read(tmp_path / "students" / f"{MUSEUM}.ipynb", as_version=4)
    assert not any("nbgrader" in cell.metadata for cell in made.cells)
    assert "[The bug museum](bug_museum.ipynb)" in (tmp_path / "students" / "README.md").read_text()


def test_the_committed_notebook_matches_its_text():
    assert (ROOT / "release" / MUSEUM / f"{MUSEUM}.ipynb").read_bytes() == notebook_of(ROOT, MUSEUM), "`make release`"


@pytest.mark.lesson
def test_it_runs_untouched_from_top_to_bottom(tmp_path):
    run(nbformat.reads(notebook_of(ROOT, MUSEUM).decode(), as_version=4), tmp_path)
