"""A grade cell's points reach nbgrader as they are."""

from __future__ import annotations

import logging

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.utils import determine_grade

from grading.grader.verdict import ExerciseVerdict
from grading.notebooks.verdict_cell import write_verdict


@pytest.mark.parametrize(
    ("points", "earned", "stored"),
    [(1, 1 / 3, 1 / 3), (1, 1 / 32, 0.03125), (3.3, 1.1 + 2.2, 3.3), (5, 0.0, 0.0)],  # 1.1 + 2.2 is more than 3.3
)
def test_points_are_not_rounded_and_not_above_the_maximum(points, earned, stored):
    marks = {"grade": True, "grade_id": "check_f", "locked": True, "points": points, "schema_version": 3}
    cell = new_code_cell("check(f)", metadata={"nbgrader": {**marks, "solution": False}})
    write_verdict(cell, ExerciseVerdict("f", points, earned, "partly right"))
    assert determine_grade(cell, logging.getLogger()) == (stored, points)
