"""Adapt a lesson's notebook to a course: other points, and given functions.

An exercise that the course leaves out keeps its text. Its solution becomes an ordinary cell, since later cells may use
the function. Its check is removed.
"""

from __future__ import annotations

import re

from nbformat import NotebookNode

from ..course_dir.lesson_change import LessonChange
from ..notebooks.cells import check_of, exercise_of, grade_id
from .lesson_text import HEADING
from .published_solutions import MARKS

GIVEN = "# This course gives you `{}`: run this cell.\n"
NOTE = "*This course gives you this function: read how it works, and run the cell below.*"
TITLE = re.compile(r"^(#{1,6}) Exercise \d+:", re.MULTILINE)
EFFORT = re.compile(r"^\*Difficulty [^\n]*\*$", re.MULTILINE)


def adapt_notebook(notebook: NotebookNode, change: LessonChange) -> None:
    """Change a lesson's notebook in place."""
    for name in sorted(change.left_out):
        _give(notebook, name)
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade") and (points := change.points.get(exercise_of(cell))) is not None:
            marks["points"] = points


def still_named(notebook: NotebookNode, name: str) -> list[str]:
    """Headings of the sections whose text names a function that the course gives.

    A teacher may want to edit them.
    """
    named, heading = dict[str, None](), ""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for line in cell.source.splitlines():
            if found := HEADING.match(line):
                heading = found[1]
            if f"`{name}" in line and "Given:" not in heading:
                named[heading] = None
    return list(named)


def _give(notebook: NotebookNode, name: str) -> None:
    """Make the notebook define `name` instead of asking for it."""
    kept, text = [], None
    for cell in notebook.cells:
        if grade_id(cell) == check_of(name):
            continue
        if cell.cell_type == "markdown" and TITLE.search(cell.source):
            text = cell
        elif grade_id(cell) == name:
            cell.metadata.pop("nbgrader")
            cell.source = GIVEN.format(name) + MARKS.sub("", cell.source).rstrip()
            if text is not None:
                text.source = EFFORT.sub(NOTE, TITLE.sub(r"\1 Given:", text.source))
        kept.append(cell)
    notebook.cells = kept
