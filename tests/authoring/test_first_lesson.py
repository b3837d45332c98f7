"""Lesson 00 keeps its promises: attention within 15 minutes, and no line of an answer above its own cell."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from grading.authoring.effort import effort_of
from grading.authoring.lesson_text import read_lesson
from grading.exercises.lesson import load_lesson
from grading.notebooks.cells import check_of, grade_id

from ..support.repository import LESSONS, ROOT

LESSON = "00_start"
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
EXERCISES = list(load_lesson(ROOT / "grader_tests" / LESSON).exercises)


@pytest.fixture(scope="module")
def released() -> NotebookNode:
    return nbformat.read(Path(ROOT / "release" / LESSON / f"{LESSON}.ipynb"), as_version=4)


def up_to(notebook: NotebookNode, grade: str) -> list[NotebookNode]:
    """The cells above the one with this grade id, and that one."""
    ids = [grade_id(cell) for cell in notebook.cells]
    return notebook.cells[: ids.index(grade) + 1]


def test_the_first_attention_is_written_within_15_minutes(released):
    found = effort_of(new_notebook(cells=up_to(released, check_of("attend_once"))))
    assert found.core.minutes <= 15


@pytest.mark.parametrize("name", EXERCISES)
def test_no_line_of_an_answer_stands_above_its_cell(released, name):
    above = "\n".join(cell.source for cell in up_to(released, name)[:-1])
    answers = {grade_id(cell): cell.source for cell in read_lesson(ROOT / "source" / f"{LESSON}.py").cells}
    lines = [line.strip() for line in "".join(SOLUTION.findall(answers[name])).splitlines() if line.strip()]
    assert 1 <= len(lines) <= 3
    for line in lines:
        assert re.sub(r"^(?:return |[\w, ]+ = )", "", line) not in above, line


def test_no_other_lesson_has_an_exercise_of_this_name():
    for lesson in set(LESSONS) - {LESSON}:
        loaded = load_lesson(ROOT / "grader_tests" / lesson)
        assert not {*EXERCISES} & {*loaded.exercises, *loaded.steps}, lesson
