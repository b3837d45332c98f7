"""Cells of a lesson's text, and the same cells in another version."""

from __future__ import annotations

import pytest

from grading.authoring.lesson_cells import align, join_cells, read_cells

from ..support.course_builder import tiny_lesson
from ..support.repository import LESSONS, ROOT


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_character_of_a_lesson_is_lost_and_every_exercise_has_its_cells(lesson):
    text = (ROOT / "source" / f"{lesson}.py").read_text(encoding="utf-8")
    cells = read_cells(text)
    assert join_cells([(cell.text, cell.space) for cell in cells]) == text
    for exercise in {cell.exercise for cell in cells} - {""}:
        own = [cell for cell in cells if cell.exercise == exercise]
        assert own[0].heading and [cell.grade_id for cell in own if cell.grade_id] == [exercise, f"check_{exercise}"]


def test_a_cell_is_matched_by_name_text_or_position():
    was = read_cells(tiny_lesson("01_double").source)
    text = tiny_lesson("01_double").source.replace("# # To double", "# # To double\n#\n# A line more.")
    text = text.replace("def check(f):\n    return 0.0", "def check(f):\n    return 0.0\n\n\nx = 1")
    text = text.replace("# %% tags", "# %%\nprint('new')\n\n# %% tags").replace("(2 * x)", "x + x")
    now = read_cells(text)
    assert align(was, now) == {0: 0, 1: 1, 2: 3, 3: 4, 4: 5}
    assert align(was, was[::-1]) == {i: 4 - i for i in range(5)}


def test_cells_of_two_exercises_are_never_matched():
    one, other = (read_cells(tiny_lesson(name).source) for name in ("01_double", "02_halve"))
    pairs = align(one, other)
    assert {one[i].grade_id for i in pairs} == {other[j].grade_id for j in pairs.values()} == {""}


def test_a_cell_that_was_the_last_gets_an_empty_line_when_another_follows():
    cells = read_cells("# %%\na\n\n# %%\nb\n")
    assert join_cells([(cell.text, cell.space) for cell in (cells[1], cells[0])]) == "# %%\nb\n\n# %%\na\n"
