"""Which submissions are likely to draw, so that their kernel finds what draws imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from grading.judge.grade_notebook import CourseFiles, likely_to_draw

READY = CourseFiles(Path(), given={"from course import begin, figures"}, left_out={"figures.show(figures.bars([1.0]))"})
RELEASED = ["from course import begin, figures", " figures.show(figures.bars([1.0]))\n"]


@pytest.mark.parametrize(
    ("own", "likely"),
    [
        ([], False),
        (["def softmax(x):\n    return x.softmax(-1)  # a plot would be nice"], False),
        (["import matplotlib.pyplot as plt"], True),
        (["plt.plot(x)"], True),
        (["figures.show(figures.bars([2.0]))"], True),
    ],
)
def test_only_cells_that_a_student_wrote_or_changed_count(own: list[str], likely: bool) -> None:
    assert likely_to_draw([new_code_cell(code) for code in (*RELEASED, *own)], READY) is likely
