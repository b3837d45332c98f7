"""Cells of a lesson's text."""

from __future__ import annotations

import pytest

from grading.plugins.migrate.lesson_cells import join_cells, read_cells

from ...support.repository import LESSONS, ROOT


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_character_of_a_lesson_is_lost_and_every_exercise_has_its_cells(lesson):
    text = (ROOT / "source" / f"{lesson}.py").read_text(encoding="utf-8")
    cells = read_cells(text)
    assert join_cells([(cell.text, cell.space) for cell in cells]) == text
    for exercise in {cell.exercise for cell in cells} - {""}:
        own = [cell for cell in cells if cell.exercise == exercise]
        assert own[0].heading and [cell.grade_id for cell in own if cell.grade_id] == [exercise, f"check_{exercise}"]


def test_a_cell_that_was_the_last_gets_an_empty_line_when_another_follows():
    cells = read_cells("# %%\na\n\n# %%\nb\n")
    assert join_cells([(cell.text, cell.space) for cell in (cells[1], cells[0])]) == "# %%\nb\n\n# %%\na\n"
