"""Compute grades again from their recorded seeds; nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.cli import main
from grading.coordinator.demo_class import hand_in
from grading.coordinator.verify_grades import verify_grades
from grading.course import Course
from grading.course_dir.seeds import FILE

from ..support.course_builder import TINY_LESSONS, solved_notebook

ONE = TINY_LESSONS[0]
WRONG = "def double(x):\n    return x * x"


@pytest.fixture
def course(course_of_three: Path) -> Path:
    return course_of_three


@pytest.mark.full
def test_a_grade_is_computed_again_exactly_and_nothing_is_written(course, capsys):
    def written() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in course.rglob("*") if path.is_file() and path.suffix == ".ipynb"}

    before, kept = written(), Course(course).verdicts()
    assert main.main(["verify-grades", ONE]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{ONE}, {student}: the same, to the last criterion" for student in ("ada", "bob", "cem")]
    assert written() == before
    assert Course(course).verdicts() == kept


@pytest.mark.full("regrades like its neighbours, with another seed")
def test_the_seed_of_another_term_is_found_beside_the_courses_own(course):
    (course / FILE).rename(course / f"{FILE}-spring")
    (course / FILE).write_text("0" * 32)
    found = list(verify_grades(Course(course), [ONE], students=["bob"]))
    assert [(one.student, one.differs, one.failed) for one in found] == [("bob", [], "")]


@pytest.mark.full("regrades like its neighbours, with another seed")
def test_a_missing_seed_gives_an_error_with_the_file_to_restore(course, capsys):
    name = str(Course(course).verdicts()[0].verdict.seed)
    (course / FILE).write_text("0" * 32)
    assert main.main(["verify-grades", ONE, "--students", "ada"]) == 2
    said = capsys.readouterr().out
    assert f"{ONE}, ada: not computed, the seed named {name} is missing" in said
    assert f"{FILE}-{name}" in said


def test_differences_are_reported_by_exercise_with_what_changed(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE, double=WRONG))
    (found,) = verify_grades(Course(course), [ONE], students=["ada"])
    assert found.differs == ["double: 5 of 5, right before, 0 of 5, wrong, squares now (values, gradients)"]
    assert "the submission changed" in found.changed
    assert Course(course).verdicts()[0].verdict.earned == 5


@pytest.mark.full("regrades like its neighbours, with another seed")
def test_another_seed_is_used_on_request(course):
    with_another = list(verify_grades(Course(course), [ONE], students=["ada"], seed="00000000"))
    assert "the seed named 00000000 is missing" in with_another[0].failed
