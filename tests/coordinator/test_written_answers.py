"""Written answers beside their cell, and pictures in them: they count, or a person is asked, and are shown."""

from __future__ import annotations

import base64
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from rich.console import Console

from grading.coordinator.converters import generate_feedback
from grading.coordinator.demo_class import hand_in
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.notebooks.cells import grade_id
from grading.notebooks.named_pictures import NOT_SHOWN
from grading.plugins.review.desk import ReviewDesk
from grading.plugins.review.render import render_answer

from ..support.by_hand_lesson import ANSWER, CODE, LESSON, TASK, WHY, course_by_hand, open_cells
from ..support.course_builder import solved_notebook

TEXT = "A sum of two equal numbers."
Cells = list[Any]


def png(colour: int, size: int = 1) -> str:
    """A picture of one colour, in base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([colour]) * size) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
    return base64.b64encode(made).decode()


RED, BLUE, LARGE = png(1), png(2), png(3, 1100)


def at(cells: Cells, name: str) -> int:
    return next(place for place, cell in enumerate(cells) if name in (grade_id(cell), cell.id))


def below(cells: Cells, name: str, *new: Any) -> None:
    cells[at(cells, name) + 1 : at(cells, name) + 1] = new


def above(cells: Cells, name: str, *new: Any) -> None:
    cells[at(cells, name) : at(cells, name)] = new


def pictured(text: str, **pictures: str) -> Any:
    attached = {name.replace("_", "."): {"image/png": data} for name, data in pictures.items()}
    return new_markdown_cell(text, attachments=attached)


def attach(cells: Cells, name: str, text: str, **pictures: str) -> None:
    """Write a text with pictures into a cell, which becomes Markdown."""
    old = cells[at(cells, name)]
    cells[at(cells, name)] = nbformat.from_dict({**pictured(text, **pictures), "id": old.id, "metadata": old.metadata})


def replace(cells: Cells, name: str, new: Any) -> None:
    cells[at(cells, name)] = new


def add_text(cells: Cells, name: str, text: str) -> None:
    cells[at(cells, name)].source += f"\n\n{text}"


# the cell that is answered, and how
BESIDE: dict[str, tuple[str, Callable[[Cells], object]]] = {
    "below": (ANSWER, lambda cells: below(cells, ANSWER, new_markdown_cell(TEXT))),
    "below-in-two": (ANSWER, lambda cells: below(cells, ANSWER, *map(new_markdown_cell, TEXT.split(" two ")))),
    "below-as-code": (ANSWER, lambda cells: below(cells, ANSWER, new_code_cell(TEXT))),
    "below-a-word": (ANSWER, lambda cells: below(cells, ANSWER, new_code_cell("sum"))),
    "deleted": (ANSWER, lambda cells: replace(cells, ANSWER, new_markdown_cell(TEXT))),
    "above": (ANSWER, lambda cells: above(cells, ANSWER, new_markdown_cell(TEXT))),
    "why-below": (WHY, lambda cells: below(cells, WHY, new_markdown_cell(TEXT))),
    "why-below-as-code": (WHY, lambda cells: below(cells, WHY, new_code_cell(TEXT))),
    "why-above": (WHY, lambda cells: above(cells, WHY, new_markdown_cell(TEXT))),
    "why-in-the-question": (WHY, lambda cells: add_text(cells, "question-why", TEXT)),
    "why-without-its-line": (
        WHY,
        lambda cells: replace(cells, WHY, new_code_cell(TEXT, metadata=cells[at(cells, WHY)].metadata)),
    ),
    "plot-below": (CODE, lambda cells: below(cells, CODE, new_code_cell("plot = 7"))),
    "task-in-its-text": (TASK, lambda cells: add_text(cells, TASK, TEXT)),
    "pictures-below": (WHY, lambda cells: below(cells, WHY, pictured("![](attachment:a.png)", a_png=RED))),
    "pictures-unnamed": (ANSWER, lambda cells: attach(cells, ANSWER, "YOUR ANSWER HERE", a_png=RED)),
    "pictures-in-html": (
        ANSWER,
        lambda cells: attach(cells, ANSWER, '<img src="attachment:a.png" width="9"/>', a_png=RED),
    ),
    "pictures-in-text": (ANSWER, lambda cells: attach(cells, ANSWER, f"![x](data:image/png;base64,{LARGE})")),
    "pictures-of-why": (WHY, lambda cells: attach(cells, WHY, "%%answer why\n![a](attachment:a.png)", a_png=LARGE)),
    "pictures-one": (ANSWER, lambda cells: attach(cells, ANSWER, "![i](attachment:image.png)", image_png=RED)),
    "pictures-two": (ANSWER, lambda cells: attach(cells, ANSWER, "![i](attachment:image.png)", image_png=BLUE)),
    "pictures-spaced": (
        ANSWER,
        lambda cells: attach(cells, ANSWER, "![s](attachment:My%20screen%20(1).png)", **{"My screen (1)_png": BLUE}),
    ),
}
BESIDE["no-picture"] = (ANSWER, lambda cells: attach(cells, ANSWER, "![curve](attachment:a.png)", a_png="bm8="))
SHOWN = {"pictures-in-text": LARGE, "pictures-of-why": LARGE, "pictures-two": BLUE, "pictures-spaced": BLUE}


# Each student answers each cell in one of these ways
_numbers = defaultdict[str, count](count)
STUDENTS = {how: f"s{next(_numbers[cell]):02}" for how, (cell, _) in BESIDE.items()}


@pytest.fixture(scope="session")
def answered(build_course_once: Callable[..., Path], sandboxed: None) -> Path:
    """A course in which each student of BESIDE has answered one question; do not change it."""

    def build(root: Path) -> None:
        course_by_hand(root)
        for student in {*STUDENTS.values(), "nobody"}:
            notebook = solved_notebook(root, LESSON)
            for name, (_, answer) in BESIDE.items():
                if STUDENTS[name] == student:
                    answer(notebook.cells)
            hand_in(root, LESSON, student, notebook)
        assert not grade_class(Course(root), [LESSON], Console(quiet=True)).failed

    return build_course_once("answers-beside", build)


@pytest.fixture(scope="module")
def desk(answered: Path) -> Any:
    course = Course(answered)
    with course.gradebook() as gradebook:
        yield ReviewDesk(course, LESSON, gradebook)


def answers(desk: ReviewDesk, name: str) -> dict[str, tuple[str, str]]:
    """Student -> id of the group, and of the submission."""
    groups = desk.question(f"{LESSON}/{name}", names=True)["groups"]
    return {m["student"]: (group["id"], m["id"]) for group in groups for m in group["members"]}


def test_an_unchanged_cell_without_text_beside_it_is_not_started(answered):
    assert open_cells(answered, "nobody") == {TASK}


@pytest.mark.parametrize("how", BESIDE)
def test_the_answer_counts_where_it_is_and_a_person_grades_it(answered, desk, how):
    name, student = BESIDE[how][0], STUDENTS[how]
    assert name in open_cells(answered, student)
    text = desk.answer(f"{LESSON}/{name}", answers(desk, name)[student][1])["text"]
    if how == "no-picture":
        assert text == f"*(curve: {NOT_SHOWN})*"
    elif how.startswith("pictures"):
        assert "attachment:picture-" in text
    else:
        assert "".join(text.split()) in (
            "".join(TEXT.replace(" two ", "").split()),
            "".join(TEXT.split()),
            "sum",
            "plot=7",
        )


def test_answers_with_different_pictures_are_in_different_groups(desk):
    groups = answers(desk, ANSWER)
    assert groups[STUDENTS["pictures-one"]][0] != groups[STUDENTS["pictures-two"]][0]


@pytest.mark.parametrize("how", [how for how in BESIDE if how.startswith("pictures")])
def test_pictures_are_shown_where_they_are_graded_and_in_the_feedback(answered, desk, fresh_copy, how):
    name, student, data = BESIDE[how][0], STUDENTS[how], SHOWN.get(how, RED)
    asked = desk.to_render(f"{LESSON}/{name}", answers(desk, name)[student][1])
    assert asked
    notebook, text = asked
    address = f'src="data:image/png;base64,{data}"'
    course = fresh_copy(answered)
    assert address in render_answer(course, course / notebook.relative_to(answered), text)
    generate_feedback(Course(course), LESSON, student)
    page = (course / "feedback" / student / LESSON / f"{LESSON}.html").read_text()
    assert address in page
