"""A cell in which something is written is read or explained: it is never "not started"."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.coordinator.demo_class import hand_in
from grading.course import Course
from grading.notebooks.cells import grade_id
from grading.notebooks.reading import read_submission

from ..support.course_builder import TINY_LESSONS, build_course, grade_lesson, released_notebook

ONE, _ = TINY_LESSONS
RIGHT = "def double(x):\n    return 2 * x"
CELL = new_code_cell(RIGHT)
STUB = "raise NotImplementedError()"
NOT_DEFINED, STILL_RAISES = "does not define `double`", "still raises NotImplementedError"
# the text of the cell for the answer, with its points, status and the report's reason
CELLS = {
    "twice": (RIGHT * 2, 5, "right", ""),
    "three-times": (RIGHT * 3, 5, "right", ""),
    "json-of-a-cell": (json.dumps(CELL, indent=1), 5, "right", ""),
    "json-of-cells": (json.dumps([new_markdown_cell("Mine"), CELL]), 5, "right", ""),
    "json-of-a-notebook": (json.dumps(new_notebook(cells=[CELL])), 5, "right", ""),
    "other-json": ('{"a": [1, 2]}', 0, "wrong", NOT_DEFINED),
    "a-body-alone": ("x = 3\nprint(2 * x)", 0, "wrong", NOT_DEFINED),
    "prose": ("I would add it to itself.", 0, "wrong", NOT_DEFINED),
    "below-the-stub": (f"def double(x):\n    {STUB}\n    return 2 * x", 0, "wrong", STILL_RAISES),
    "a-comment": ("# later", 0, "not started", ""),
    "untouched": (f"def double(x):\n    # mine\n    {STUB}", 0, "not started", ""),
}


@pytest.fixture(scope="session")
def graded(build_course_once: Callable[..., Path], sandboxed: None) -> Path:
    def build(root: Path) -> None:
        build_course(root, release=[ONE])
        for student, (text, *_) in CELLS.items():
            notebook = released_notebook(root, ONE)
            next(cell for cell in notebook.cells if grade_id(cell) == "double").source = text
            hand_in(root, ONE, student, notebook)
        grade_lesson(root, ONE)

    return build_course_once("full-cells", build)


def test_what_is_written_counts_or_the_report_says_why_not(graded):
    found = {one.student: one.verdict for one in Course(graded).verdicts(ONE)}
    for student, (_, points, status, why) in CELLS.items():
        verdict = found[student]
        assert (student, verdict.earned, verdict.status) == (student, points, status)
        assert why in verdict.explanation, student


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("Because twice is a sum." * 2, "Because twice is a sum."),
        ("Because twice is a sum.\n" * 3, "Because twice is a sum."),
        ("Because twice is a sum.\nBecause twice is a sum.", "Because twice is a sum."),
        ("haha", "haha"),
        ("-" * 30, "-" * 30),
        ("No, no.", "No, no."),
        ("", ""),
    ],
)
def test_a_text_that_is_there_several_times_is_read_once(text, once):
    read = read_submission(nbformat.writes(new_notebook(cells=[new_markdown_cell(text)])).encode())
    assert read.cells[0].source == once
