"""What an answer needs of its notebook, by its text alone."""

from __future__ import annotations

import pytest
import torch

from grading.grader.source_analysis import NotebookSource
from grading.judge.kernel.dependencies import ExecutedCell, cells_needed, names_needed, stopped_cells, unbound_names
from grading.judge.kernel.outputs import Stop

CELLS = [
    ExecutedCell("import torch\nbegin()", from_lesson=True),
    ExecutedCell("show(answer)", from_lesson=True, completed=False),
    ExecutedCell("import math\nprint(math.pi)"),
    ExecutedCell("scale = 2\nregister(scale)"),
    ExecutedCell("def helper(x):\n    return scale * x\n\nhelper(0)"),
    ExecutedCell("%reset -f"),
    ExecutedCell("def answer(x):\n    return torch.abs(helper(x))\n\nanswer(1)"),
    ExecutedCell("this is no Python"),
]
SOURCE = NotebookSource([cell.code for cell in CELLS])


def needed(bare: bool) -> list[str]:
    return list(cells_needed(CELLS, SOURCE, "answer", bare))


def test_the_names_are_the_definitions_and_imports_that_the_answer_reaches():
    assert names_needed(SOURCE, "answer") == ["answer", "helper", "scale", "torch"]


MATH = "try:\n    import math\nexcept Exception:\n    pass"


def test_the_cells_are_the_lessons_own_the_answers_and_those_it_reaches_and_of_others_the_imports():
    assert needed(bare=False) == [CELLS[0].code, MATH, CELLS[3].code, CELLS[4].code, CELLS[6].code]


def test_bare_what_it_reaches_is_without_the_rest_of_its_cell():
    codes = needed(bare=True)
    assert codes[:2] == [CELLS[0].code, MATH]
    names: dict[str, object] = {"torch": torch}
    exec("\n".join(codes[1:]), names)
    assert names["answer"](torch.tensor(-3)) == 6  # type: ignore[operator]
    assert not any(left in "\n".join(codes[1:]) for left in ("register", "helper(0)", "answer(1)", "print"))


@pytest.mark.parametrize(("line", "stopped"), [(1, True), (2, True), (4, True), (5, False), (0, True)])
def test_a_cell_that_stopped_below_what_is_needed_of_it_did_not_stop_for_the_answer(line, stopped):
    cell = ExecutedCell("import a\nx = 1\ndef answer():\n    return x\nanswer()", stop=Stop(line, "no"))
    assert list(stopped_cells([cell], ["answer"])) == [cell] * stopped


def test_a_cell_that_stopped_did_so_for_nothing_that_a_later_cell_defines():
    stopped = ExecutedCell("import a\ndef answer(): ...", stop=Stop(1, "no"))
    assert list(stopped_cells([stopped, ExecutedCell("def answer(): ...")], ["answer"])) == []
    assert list(stopped_cells([ExecutedCell("def answer(): ..."), stopped], ["answer"])) == [stopped]


@pytest.mark.parametrize("name", ["other", "torch"])
def test_what_no_cell_defines_needs_no_name(name):
    assert names_needed(SOURCE, name) == []


def test_a_name_that_no_cell_binds_is_found():
    source = NotebookSource(
        ["import torch", "def answer(x):\n    y = len(x)\n    return sqrt(y) * torch.ones(known)", "known = 1"]
    )
    assert unbound_names(source, "answer") == ["sqrt"]
