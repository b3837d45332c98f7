"""What a notebook cell says by its metadata and its marks, for the build, the judge and the plug-ins.

A grade cell's grade_id is `check_` and the exercise's name. The student does not see what is between the marks of
hidden tests.

Does not cover: what a cell's code does (`grading.grader.cell_code`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

RECORD = "attention_course"  # the key of our metadata in a notebook, and of the same in nbconvert's resources
CHECK = "check_"  # the grade cell of the exercise `dot` is called check_dot
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"  # nbgrader's marks, each on its own line
HIDDEN = re.compile(rf"^[^\n]*{BEGIN_HIDDEN}.*?(?:{END_HIDDEN}[^\n]*\n?|\Z)", re.DOTALL | re.MULTILINE)


def grade_id(cell: Mapping[str, Any]) -> str:
    """The name that nbgrader's metadata give a cell; "" where they give none, or are not what they should be."""
    marks = cell["metadata"].get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, Mapping) else None
    return name if isinstance(name, str) else ""


def check_of(exercise: str) -> str:
    """The grade_id of the cell that judges an exercise."""
    return CHECK + exercise


def exercise_named(name: str) -> str:
    """The exercise that the grade cell with this grade_id judges."""
    return name.removeprefix(CHECK)


def exercise_of(cell: Mapping[str, Any]) -> str:
    """The exercise that a grade cell judges."""
    return exercise_named(grade_id(cell))


def check_call(exercise: str) -> str:
    """The line with which every grade cell begins, and the one that a student sees."""
    return f"check({exercise})"


def visible(source: str) -> str:
    """A grade cell's text without its hidden tests."""
    return HIDDEN.sub("", source).rstrip()
