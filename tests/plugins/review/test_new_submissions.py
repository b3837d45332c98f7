"""A person's marks belong to an answer's text: a new one has none, and one that comes back has its own again."""

from __future__ import annotations

from typing import Any

import pytest

from grading.course import Course
from grading.errors import ReviewError

from ...support.review_course import DOUBLE, ESSAY, EXPLORE, LESSON, SKETCH, WHY, add_answers
from .conftest import ANSWERS
from .reading import grade, in_nbgrader, members

NEW = {
    WHY: "Anything.",
    ESSAY: "More words.",
    SKETCH: "y = 2",
    EXPLORE: "Nothing.",
    "double": "def double(x): return x",
}
NONE = (None, None, True, None)


@pytest.fixture
def submits(course):
    """submits(answers): ada hands in another notebook, which is graded."""

    def run(answers: dict[str, str]) -> None:
        with Course(course).gradebook() as gradebook:
            add_answers(course, gradebook, "ada", answers)

    return run


def marks(desk: Any) -> dict[str, tuple[Any, ...]]:
    desk.gradebook.db.rollback()
    kept = {cell: in_nbgrader(desk, cell, "ada") for cell in (WHY, ESSAY, SKETCH, EXPLORE)}
    return kept | {DOUBLE: in_nbgrader(desk, DOUBLE, "ada", comment="double")}


@pytest.fixture
def graded(desk, course):
    """Every answer of ada graded by a person; her marks."""
    grade(desk, WHY, "ada", items=["variance", "vague"], adjust=1.5, comment="A *note*.")
    grade(desk, ESSAY, "ada", items=[], graded=True, comment="Nothing of it is right.")
    grade(desk, SKETCH, "ada", items=[], adjust=1)
    grade(desk, EXPLORE, "ada", items=[], adjust=2, comment="Fine.")
    with Course(course).gradebook() as formgrader:
        formgrader.find_grade(DOUBLE, LESSON, LESSON, "ada").extra_credit = 0.5
        formgrader.find_comment("double", LESSON, LESSON, "ada").manual_comment = "Elegant."
        formgrader.db.commit()
    found = marks(desk)
    assert found[WHY] == (2.0, 0.5, False, "A *note*.") and found[ESSAY][0] == 0
    return found


def test_new_answers_have_no_points_items_or_notes_of_earlier_ones(desk, graded, submits):
    submits(NEW)
    assert marks(desk) == {**dict.fromkeys(graded, NONE), DOUBLE: (None, None, False, None)}
    found = members(desk, WHY)["ada"]
    assert (found["items"], found["adjust"], found["by"], found["points"]) == ([], 0, "", None)
    with pytest.raises(ReviewError, match="choose an item"):
        grade(desk, WHY, "ada", accept=True)


def test_answers_that_come_back_have_their_marks_again(desk, graded, submits):
    before = {**members(desk, WHY)["ada"], "seen": ""}
    submits(NEW)
    grade(desk, WHY, "ada", items=["softmax"], comment="Better.")
    second = marks(desk)
    for answers, expected in ((ANSWERS["ada"], graded), (NEW, second), (ANSWERS["ada"], graded)):
        submits(answers)
        assert marks(desk) == expected
    assert {**members(desk, WHY)["ada"], "seen": ""} == before


def test_only_the_marks_of_changed_answers_go(desk, graded, submits):
    submits({**ANSWERS["ada"], WHY: "Anything."})
    assert marks(desk) == {**graded, WHY: NONE, EXPLORE: NONE}  # a task may be answered in any cell


def test_marks_that_a_person_took_back_stay_away(desk, graded, submits):
    submits(NEW)
    submits(ANSWERS["ada"])
    grade(desk, WHY, "ada", items=[], graded=False, comment="")
    submits(NEW)
    submits(ANSWERS["ada"])
    assert marks(desk)[WHY] == NONE
