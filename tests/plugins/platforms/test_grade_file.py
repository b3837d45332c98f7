"""`grading grade-file` gives the verdicts of `grading grade`, and writes nothing but its result."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from traitlets.config import Config

from grading.cli import main
from grading.course import Course
from grading.course_dir import overrides
from grading.plugins.platforms.grade_file import grade_file

from ...support.course_builder import TINY_LESSONS, grade_lesson, submit

LESSON, OTHER = TINY_LESSONS
MORE = {  # answers of students who are not in the class of three
    "eve": "def double(x):\n    raise SystemExit",
    "joe": "def double(x):\n    while True: pass",
}


@pytest.fixture
def graded(course_of_three: Path) -> Path:
    return course_of_three


def state(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.quick_cases("bob", "ada", "eve")
@pytest.mark.parametrize("student", ["ada", "bob", *MORE])
def test_the_verdicts_are_those_of_grade(graded, student, tmp_path):
    if student in MORE:
        submit(graded, LESSON, student, double=MORE[student])
        grade_lesson(graded, LESSON)
    file = tmp_path / "my answers.ipynb"
    file.write_bytes((graded / "submitted" / student / LESSON / f"{LESSON}.ipynb").read_bytes())
    before = state(graded)
    found = grade_file(Course(graded), file, LESSON, page=True)
    assert state(graded) == before
    of_class = {
        grade.verdict.exercise: grade.verdict for grade in Course(graded).verdicts(LESSON) if grade.student == student
    }
    assert {verdict.exercise: verdict for verdict in found.verdicts} == of_class
    assert found.page.startswith("<!DOCTYPE html>") and "double" in found.page


def test_a_file_that_cannot_be_read_has_a_result_and_a_page(graded, tmp_path):
    file = tmp_path / "broken.ipynb"
    file.write_text('{"cells": [')
    found = grade_file(Course(graded), file, LESSON, page=True)
    assert found.earned == 0 and found.unreadable
    assert found.student_may_hand_in_again
    assert found.page


def test_the_course_says_how_large_a_file_may_be(graded, monkeypatch, capsys):
    monkeypatch.setattr(overrides, "given", Config())  # `main` leaves the option there
    file = graded / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    main.main(["grade-file", str(file), LESSON, "--SubmissionExporter.max_bytes=1000"])
    assert json.loads(capsys.readouterr().out)["points"] == 0


def test_the_command_writes_the_result_and_the_page(graded, tmp_path, capsys):
    file = graded / "submitted" / "bob" / LESSON / f"{LESSON}.ipynb"
    result, page = tmp_path / "results" / "results.json", tmp_path / "page.html"
    arguments = ["grade-file", str(file), LESSON, "--as", "gradescope", "--output", str(result), "--html", str(page)]
    assert main.main(arguments) == 0
    assert f"points. {result}: written" in capsys.readouterr().out
    written = json.loads(result.read_text())
    assert written["score"] < 5 and written["output_format"] == "html"
    assert "<html" in page.read_text() and written["output"] in page.read_text()
    assert written["output"].startswith("<main>") and written["output"].endswith("</main>")
    assert main.main(["grade-file", str(file), LESSON]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "attention-course/result/v1"


@pytest.mark.parametrize(
    ("file", "lesson", "message"),
    [
        ("nothing.ipynb", LESSON, "there is no file nothing.ipynb"),
        (f"release/{LESSON}/{LESSON}.ipynb", "01_duble", "did you mean 01_double?"),
    ],
)
def test_what_is_not_there_is_named_and_nothing_is_written(graded, capsys, tmp_path, file, lesson, message):
    assert main.main(["grade-file", file, lesson, "--output", str(tmp_path / "out.json")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.full
def test_a_lesson_that_is_not_released_is_named(graded, capsys):
    with Course(graded).gradebook() as gradebook:
        gradebook.remove_assignment(OTHER)
    assert main.main(["grade-file", "nbgrader_config.py", OTHER]) == 2
    assert f"{OTHER} is not released yet" in capsys.readouterr().err
