"""Grades computed again by the seed recorded with them: what is the same, what is told, and that nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.cli import main
from grading.coordinator.demo_class import hand_in
from grading.coordinator.nbgrader_api import grades
from grading.coordinator.verify_grades import verify_grades
from grading.course_dir.seeds import FILE

from ..support.course_builder import TINY_LESSONS, solved_notebook

pytestmark = pytest.mark.slow

ONE = TINY_LESSONS[0]
WRONG = "def double(x):\n    return x * x"


@pytest.fixture
def course(course_of_three: Path) -> Path:
    return course_of_three


def test_a_grade_is_computed_again_exactly_and_nothing_is_written(course, capsys):
    def written() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in course.rglob("*") if path.is_file() and path.suffix == ".ipynb"}

    before, kept = written(), grades(course)
    assert main.main(["verify-grades", ONE]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{ONE}, {student}: the same, to the last criterion" for student in ("ada", "bob", "cem")]
    assert written() == before
    assert grades(course) == kept


@pytest.mark.full("regrades like its neighbours, with another seed")
def test_the_seed_of_another_term_is_found_by_its_name_beside_the_courses_own(course):
    (course / FILE).rename(course / f"{FILE}-spring")
    (course / FILE).write_text("0" * 32)
    found = list(verify_grades(course, [ONE], students=["bob"]))
    assert [(one.student, one.differs, one.failed) for one in found] == [("bob", [], "")]


@pytest.mark.full("regrades like its neighbours, with another seed")
def test_a_seed_that_is_gone_is_told_with_what_to_put_back(course, capsys):
    name = str(grades(course)[0].verdict.seed)
    (course / FILE).write_text("0" * 32)
    assert main.main(["verify-grades", ONE, "--students", "ada"]) == 2
    said = capsys.readouterr().out
    assert f"{ONE}, ada: not computed, the seed named {name} is missing" in said
    assert f"{FILE}-{name}" in said


def test_what_is_found_otherwise_now_is_told_by_exercise_with_what_changed(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE, double=WRONG))
    (found,) = verify_grades(course, [ONE], students=["ada"])
    assert found.differs == ["double: 5 of 5, right before, 0 of 5, wrong, squares now (values, gradients)"]
    assert "the submission changed" in found.changed
    assert grades(course)[0].verdict.earned == 5


@pytest.mark.full("regrades like its neighbours, with another seed")
def test_another_seed_is_tried_where_it_is_asked_for(course):
    with_another = list(verify_grades(course, [ONE], students=["ada"], seed="00000000"))
    assert "the seed named 00000000 is missing" in with_another[0].failed
