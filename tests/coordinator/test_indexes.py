"""The cost of writing a grade does not grow with the class.

Also in gradebooks that were made without our indexes.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from grading.coordinator.converters import autograde
from grading.coordinator.demo_class import hand_in
from grading.coordinator.grade_class import grade_class
from grading.course import Course

from ..support.class_helpers import RecordingConsole
from ..support.course_builder import TINY_LESSONS, solved_notebook

ONE, CLASS = TINY_LESSONS[0], ("ada", "bob", "cem", "dan")
OF_A_CLASS = re.compile(r"SCAN (grade|comment|submitted_assignment|submitted_notebook)\b")


@pytest.fixture
def asked(course: Path) -> Iterator[Counter[str]]:
    """How often the database gets each statement.

    Four students have handed in, and the gradebook has none of our indexes.
    """
    with sqlite3.connect(course / "gradebook.db") as gradebook:
        for (name,) in list(
            gradebook.execute("select name from sqlite_master where type = 'index' and sql is not null")
        ):
            gradebook.execute(f"drop index {name}")
    for student in CLASS:
        hand_in(course, ONE, student, solved_notebook(course, ONE))
    counted = Counter[str]()

    def count(_: Any, __: Any, statement: str, *___: Any) -> None:
        counted[statement] += 1

    event.listen(Engine, "before_cursor_execute", count)
    yield counted
    event.remove(Engine, "before_cursor_execute", count)


def plan(course: Path, statement: str) -> str:
    with sqlite3.connect(course / "gradebook.db") as gradebook:
        steps = gradebook.execute(f"explain query plan {statement}", ["x"] * statement.count("?"))
        return "\n".join(step[3] for step in steps)


def by_nbgrader(course: Path) -> None:
    for student in CLASS:
        assert autograde(Course(course), ONE, student)


@pytest.mark.full
@pytest.mark.parametrize("graded", [lambda course: grade_class(Course(course), [ONE], RecordingConsole()), by_nbgrader])
def test_no_statement_for_one_submission_scans_the_rows_of_all(course, asked, graded):
    graded(course)
    often = [one for one, times in asked.items() if times >= len(CLASS) and one.startswith(("SELECT", "UPDATE"))]
    assert any("FROM grade" in one for one in often) and any("FROM comment" in one for one in often)
    plans = {one: plan(course, one) for one in often}
    assert not {one: steps for one, steps in plans.items() if OF_A_CLASS.search(steps)}
