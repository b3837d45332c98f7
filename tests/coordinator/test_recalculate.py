"""Regrades are shown first, then written; manual points stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from grading.cli import main
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.course_dir.seeds import FILE

from ..support.course_builder import TINY_LESSONS, submit

ONE = TINY_LESSONS[0]


def now_squares(root: Path) -> None:
    """Change the grader, so that it asks for the square."""
    contract = root / "grader_tests" / ONE / "double" / "contract.py"
    contract.write_text(contract.read_text().replace("return (2 * x)", "return x * x"))


def by_hand(root: Path, student: str, points: float) -> None:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        gradebook.find_grade("check_double", ONE, ONE, student).manual_score = points
        gradebook.db.commit()


def points(root: Path) -> dict[str, float]:
    return {student: earned for (student, _), (earned, _) in Course(root).scores().items()}


def row_of(told: str, student: str) -> str:
    return next(" ".join(line.split()) for line in told.splitlines() if f" {student} " in line)


def test_changes_are_shown_first_and_written_once_confirmed(course_of_three, capsys):
    course = course_of_three
    now_squares(course)
    by_hand(course, "cem", 4.0)
    before = points(course)
    assert main.main(["regrade", ONE]) == 0
    told = capsys.readouterr().out
    assert row_of(told, "ada").startswith(f"{ONE} ada 5 0 -5 double: 5 of 5, right before, 0 of 5, wrong")
    assert row_of(told, "bob").startswith(f"{ONE} bob 0 5 +5")
    assert row_of(told, "cem").startswith(f"{ONE} cem 4 4 double: ")
    assert "by hand, unchanged: double" in told
    assert "because the graders changed" in told
    assert "Out of date: 3 grades. With the current graders and settings: 1 higher, 1 lower, 1 the same." in told
    assert "Nothing has changed yet" in told
    assert points(course) == before

    assert main.main(["regrade", ONE, "--yes"]) == 0
    assert "3 grades written" in capsys.readouterr().out
    assert points(course) == {"ada": 0, "bob": 5, "cem": 4}
    assert not grade_class(Course(course), [ONE], Console(quiet=True)).graded  # they are up to date

    assert main.main(["regrade", ONE, "--yes"]) == 0
    assert "Every grade is up to date." in capsys.readouterr().out
    assert main.main(["history", ONE]) == 0
    told = capsys.readouterr().out
    assert "double 5 right" in told
    assert "double 0 wrong squares" in told
    assert "double 4 by hand" in told
    assert "the graders changed" in told
    assert main.main(["history", "--students", "bob"]) == 0
    told = capsys.readouterr().out
    assert "bob" in told and "ada" not in told


@pytest.mark.full("regrades a class of three like its neighbours")
def test_a_new_seed_changes_no_points_and_adds_no_history(course_of_three, capsys):
    course = course_of_three
    (course / FILE).rename(course / f"{FILE}-spring")
    (course / FILE).write_text("0" * 32)
    assert main.main(["regrade", "--yes"]) == 0
    told = capsys.readouterr().out
    assert "Out of date: 3 grades. With the current graders and settings: 0 higher, 0 lower, 3 the same." in told
    assert points(course) == {"ada": 5, "bob": 0, "cem": 3}
    assert main.main(["history"]) == 0
    assert "No grade was replaced." in capsys.readouterr().out


@pytest.mark.full("regrades a class of three like its neighbours")
def test_a_late_policy_is_shown_before_it_takes_off_points(course_of_three, capsys):
    course = course_of_three
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_assignment(ONE, duedate="2026-11-20 23:59:00 UTC")
    for student in ("ada", "cem"):
        (course / "submitted" / student / ONE / "timestamp.txt").write_text("2026-11-21 08:00:00 UTC")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write('c.LatePolicy.policy = "20% a day"\n')
    assert main.main(["extend", ONE, "cem", "--days", "2", "--why", "ill"]) == 0
    assert f"cem, {ONE}: 2 days more, until 2026-11-22 23:59 UTC" in capsys.readouterr().out
    assert main.main(["regrade"]) == 0
    told = capsys.readouterr().out
    assert row_of(told, "ada").startswith(f"{ONE} ada 5 4 -1 late penalty: 0 before, 1 now")
    assert "cem" not in told
    assert main.main(["regrade", "--yes"]) == 0
    assert points(course) == {"ada": 4, "bob": 0, "cem": 3}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["extend", ONE, "ada", "--days", "1"], f"{ONE} has no due date"),
        (
            ["extend", ONE, "no body", "--days", "1"],
            "there is no student no body: add one with `nbgrader db student add 'no body'`",
        ),
        (["excuse", "09_none", "ada"], "no lesson 09_none"),
    ],
)
def test_an_impossible_request_gives_an_error_with_the_remedy(course_of_three, capsys, arguments, why):
    assert main.main(arguments) == 2
    assert why in capsys.readouterr().err


def test_a_submission_that_cannot_be_graded_is_reported_and_keeps_its_grade(course_of_three, capsys):
    submit(course_of_three, ONE, "bob")  # the right answer
    (course_of_three / "submitted" / "ada" / ONE / f"{ONE}.ipynb").unlink()
    (course_of_three / "submitted" / "cem" / ONE / "timestamp.txt").write_text("yesterday evening, I think")
    assert main.main(["regrade", ONE, "--yes"]) == 2
    told = capsys.readouterr().out
    assert f"No {ONE}.ipynb was handed in" in told
    assert "timestamp.txt: expected a time, got yesterday evening" in told
    assert "2 could not be graded and keep their old grade" in told
    assert points(course_of_three) == {"ada": 5, "bob": 5, "cem": 3}
