"""The unanswered cells that the button *Reset* puts back: those of the released notebook."""

from __future__ import annotations

import json
import re

import pytest

from course.notebook import catalog
from grading.authoring.stubs import stub_data

from ..support.course_builder import TINY_LESSONS, build_and_release, build_course
from ..support.repository import LESSONS, ROOT

CHECK = re.compile(r"check\((\w+)\)")


def code_cells(path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_package_has_the_cells_that_are_released(lesson):
    released = code_cells(ROOT / "release" / lesson / f"{lesson}.ipynb")
    stubs = catalog.stubs_of(lesson)
    assert set(stubs) == {found[1] for code in released if (found := CHECK.match(code))}
    for name, code in stubs.items():
        assert code in released, f"{name}: run `grading build {lesson}`"
    assert (catalog.EXAMPLES / f"{lesson}{catalog.STUBS}").read_bytes() == stub_data(ROOT, lesson)


def test_a_teachers_own_lesson_has_them_beside_its_notebook(tmp_path):
    """With the stub that this course sets."""
    root, lesson = build_course(tmp_path / "course"), TINY_LESSONS[0]
    with (root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.ClearSolutions.code_stub = {"python": "..."}\n')
    build_and_release(root, lesson)
    released = root / "release" / lesson
    stubs = json.loads((released / f"{lesson}{catalog.STUBS}").read_text())
    assert set(stubs.values()) <= set(code_cells(released / f"{lesson}.ipynb"))
    assert stubs and all(code.endswith("    ...") for code in stubs.values())
