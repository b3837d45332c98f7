"""The meaning of a cell's metadata and marks, for the build, the judge and plug-ins.

A grade cell's grade_id is `check_` and the exercise's name. Students do not see the text between the marks of hidden
tests.

Does not cover: what a cell's code does (`grading.grader.cell_code`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from grading.course_dir.lesson_marks import CHECK

RECORD = "attention_course"  # the key of our metadata in a notebook and in nbconvert's resources
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"  # nbgrader's marks, each on its own line
HIDDEN = re.compile(rf"^[^\n]*{BEGIN_HIDDEN}.*?(?:{END_HIDDEN}[^\n]*\n?|\Z)", re.DOTALL | re.MULTILINE)


def grade_id(cell: Mapping[str, Any]) -> str:
    """The name that nbgrader's metadata give a cell; "" if none or malformed."""
    marks = cell["metadata"].get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, Mapping) else None
    return name if isinstance(name, str) else ""


def check_of(exercise: str) -> str:
    """The grade_id of the cell that grades an exercise."""
    return CHECK + exercise


def exercise_named(name: str) -> str:
    """The exercise that the cell with this grade_id grades."""
    return name.removeprefix(CHECK)


def exercise_of(cell: Mapping[str, Any]) -> str:
    """The exercise that a grade cell grades."""
    return exercise_named(grade_id(cell))


def check_call(exercise: str) -> str:
    """The first line of every grade cell, which students see."""
    return f"check({exercise})"


def visible(source: str) -> str:
    """A grade cell's text without its hidden tests."""
    return HIDDEN.sub("", source).rstrip()


def title_of(texts: Iterable[str]) -> str:
    """The first level-1 heading of Markdown texts, as plain text; "" if none."""
    first = re.search(r"^#\s+(.+)$", "\n".join(texts), re.M)
    return re.sub(r"[*`$]", "", first[1]).strip() if first else ""
