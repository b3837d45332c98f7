"""Grades computed again by the seed recorded with them: what is the same, what is told, and that nothing is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from grading import cli
from grading.judge.lesson import load_lesson
from grading.run.classroom import grade_class, release_lessons
from grading.run.nbgrader import grades
from grading.run.regrading import regrade
from grading.sample import hand_in, right, write_answers
from grading.seeds import FILE

from ..small import LESSONS, make_course

pytestmark = pytest.mark.slow

ONE = LESSONS[0]
WRONG = "def double(x):\n    return x * x"


def submission(root: Path, **answers: str) -> nbformat.NotebookNode:
    release = nbformat.read(root / "release" / ONE / f"{ONE}.ipynb", as_version=4)
    return write_answers(release, right(load_lesson(root / "grader_tests" / ONE), 0) | answers)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with two grades: ada is right, and bob is not."""
    root = make_course(tmp_path_factory.mktemp("graded") / "course")
    release_lessons(root, [ONE], Console(quiet=True))
    hand_in(root, ONE, "ada", submission(root))
    hand_in(root, ONE, "bob", submission(root, double=WRONG))
    assert not grade_class(root, [ONE], Console(quiet=True)).failed
    return root


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(graded, tmp_path / "course")


@pytest.mark.long
def test_a_grade_is_computed_again_exactly_and_nothing_is_written(course, monkeypatch, capsys):
    def written() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in course.rglob("*") if path.is_file() and path.suffix == ".ipynb"}

    before, kept = written(), grades(course)
    monkeypatch.chdir(course)
    assert cli.main(["regrade", ONE]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{ONE}, {student}: the same, to the last criterion" for student in ("ada", "bob")]
    assert written() == before
    assert grades(course) == kept


@pytest.mark.long
def test_the_seed_of_another_term_is_found_by_its_name_beside_the_courses_own(course):
    (course / FILE).rename(course / f"{FILE}-spring")
    (course / FILE).write_text("0" * 32)
    found = list(regrade(course, [ONE], students=["bob"]))
    assert [(one.student, one.differs, one.failed) for one in found] == [("bob", [], "")]


@pytest.mark.long
def test_a_seed_that_is_gone_is_told_with_what_to_put_back(course, monkeypatch, capsys):
    name = str(grades(course)[0].verdict.seed)
    (course / FILE).write_text("0" * 32)
    monkeypatch.chdir(course)
    assert cli.main(["regrade", ONE, "--students", "ada"]) == 1
    said = capsys.readouterr().out
    assert f"{ONE}, ada: not computed, the seed named {name} is not here" in said
    assert f"{FILE}-{name}" in said


def test_what_is_found_otherwise_now_is_told_by_exercise_with_what_changed(course):
    hand_in(course, ONE, "ada", submission(course, double=WRONG))
    (found,) = regrade(course, [ONE], students=["ada"])
    assert found.differs == ["double: 5 of 5, right before, 0 of 5, wrong, squares now (values, gradients)"]
    assert "what was handed in changed" in found.changed
    assert grades(course)[0].verdict.earned == 5


@pytest.mark.long
def test_another_seed_is_tried_where_it_is_asked_for(course):
    with_another = list(regrade(course, [ONE], students=["ada"], seed="00000000"))
    assert "the seed named 00000000 is not here" in with_another[0].failed
