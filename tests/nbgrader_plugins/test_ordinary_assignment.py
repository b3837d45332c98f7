"""Assignments as nbgrader's own documentation writes them, in a course of ours: asserts, points in part, a text."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from grading.cli import main
from grading.cli.arguments import NEEDS_A_PERSON
from grading.gradebook.store import stored_grades

from ..support.course_builder import build_course

BIN = Path(sys.executable).parent
SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
TESTS = (
    "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(-3) == -6\nassert double(7) == 14\n"
    "### END HIDDEN TESTS\nassert double(0) == 0"
)
PARTLY = "sum([double(1) == 2, double(-1) == -2]) / 2"


def marked(grade_id: str, grade: bool, solution: bool, points: float | None = None) -> dict[str, Any]:
    marks = {"grade": grade, "grade_id": grade_id, "locked": grade and not solution, "solution": solution}
    return {"nbgrader": {**marks, "schema_version": 3, "task": False, **({"points": points} if points else {})}}


def write_assignment(root: Path, name: str, *notebooks: str) -> None:
    cells = [
        new_markdown_cell("# Homework"),
        new_code_cell(SOLUTION, metadata=marked("cell-1", False, True)),
        new_code_cell(TESTS, metadata=marked("cell-2", True, False, 2)),
        new_code_cell(PARTLY, metadata=marked("cell-3", True, False, 1)),
        new_markdown_cell("YOUR ANSWER HERE", metadata=marked("essay", True, True, 3)),
    ]
    (root / "source" / name).mkdir(parents=True)
    for notebook in notebooks:
        nbformat.write(new_notebook(cells=cells), root / "source" / name / f"{notebook}.ipynb")


def hand_in(root: Path, name: str, student: str, answer: str, *notebooks: str) -> None:
    for notebook in notebooks:
        released = nbformat.read(root / "release" / name / f"{notebook}.ipynb", as_version=4)
        next(cell for cell in released.cells if "def double" in cell.source).source = answer
        released.cells[-1].source = "An essay."
        path = root / "submitted" / student / name / f"{notebook}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(released, path)


def run(root: Path, command: str) -> str:
    program, *arguments = command.split()
    done = subprocess.run([BIN / program, *arguments], cwd=root, capture_output=True, text=True)
    wait = command == "grading grade hw1"  # the essays wait for a person
    assert done.returncode == int(wait), done.stdout + done.stderr
    return done.stdout + done.stderr


def points(root: Path, name: str, student: str, notebook: str) -> dict[str, tuple[float | None, bool]]:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        found = gradebook.find_submission_notebook(notebook, name, student).grades
        return {grade.name: (grade.auto_score, bool(grade.needs_manual_grade)) for grade in found}


WITH_ESSAY = {"essay": (None, True)}
RIGHT = "def double(x):\n    return x + x"
ANSWERS = {
    "ada": (RIGHT, {"cell-2": (2.0, False), "cell-3": (1.0, False)}),
    "bob": ("def double(x):\n    return abs(2 * x)", {"cell-2": (0.0, False), "cell-3": (0.5, False)}),
    "cyd": ("def double(x):\n    return x", {"cell-2": (0.0, False), "cell-3": (0.0, False)}),
    "dan": ("import os\ndef double(x):\n    os._exit(0)", {"cell-2": (None, True), "cell-3": (None, True)}),
}


@pytest.fixture(scope="module")
def course(build_course_once: Callable[..., Path], sandboxed: None) -> Path:
    """hw1, released and graded by the commands of the course, beside a lesson."""

    def build(root: Path) -> None:
        build_course(root, release=["01_double"])
        write_assignment(root, "hw1", "hw1")
        with redirect_stdout(StringIO()) as said:
            assert main.main(["release", "hw1", "--course", str(root)]) == 0
            for student, (answer, _) in ANSWERS.items():
                hand_in(root, "hw1", student, answer, "hw1")
            assert main.main(["grade", "--course", str(root)]) == NEEDS_A_PERSON
        assert "hw1: released as" in said.getvalue()
        assert f"hw1: {len(ANSWERS)} graded" in said.getvalue()

    return build_course_once("ordinary", build)


@pytest.mark.quick_cases("cyd", "ada", "bob")
@pytest.mark.parametrize("student", ANSWERS)
def test_its_asserts_give_the_points_and_its_texts_wait_for_a_person(course: Path, student: str) -> None:
    assert points(course, "hw1", student, "hw1") == ANSWERS[student][1] | WITH_ESSAY


def test_the_release_hides_the_hidden_tests(course: Path) -> None:
    assert "double(-3)" not in (course / "release" / "hw1" / "hw1.ipynb").read_text()


@pytest.mark.full
def test_the_feedback_names_the_test_that_stopped_but_no_hidden_one(course: Path) -> None:
    run(course, "grading feedback hw1")
    bob, cyd = ((course / "feedback" / who / "hw1" / "hw1.html").read_text() for who in ("bob", "cyd"))
    assert "A hidden test failed." in bob
    assert "double(2) == 4</code>: AssertionError" in cyd
    assert "double(-3)" not in bob + cyd


@pytest.mark.full
def test_it_is_graded_again_only_if_something_changed(course: Path) -> None:
    assert "graded before and unchanged" in run(course, "grading grade hw1")
    assert "the same, to the last criterion" in run(course, "grading verify-grades hw1 --students ada")


@pytest.mark.full
def test_a_cell_that_calls_check_is_never_right_for_want_of_graders(tmp_path: Path, sandboxed: None) -> None:
    root = build_course(tmp_path, release=["01_double"], submissions={"ada": {}})
    (root / "grader_tests" / "01_double").rename(tmp_path / "elsewhere")
    (root / "source" / "01_double.py").unlink()
    run(root, "nbgrader autograde 01_double")
    assert points(root, "01_double", "ada", "01_double") == {"check_double": (None, True)}


@pytest.mark.full("runs six commands of nbgrader")
def test_an_assignment_of_two_notebooks_is_graded_by_nbgraders_command(tmp_path: Path, sandboxed: None) -> None:
    root, notebooks = build_course(tmp_path, []), ("problem1", "problem2")
    write_assignment(root, "ps1", *notebooks)
    run(root, "nbgrader generate_assignment ps1")
    hand_in(root, "ps1", "ada", RIGHT, *notebooks)
    hand_in(root, "ps1", "bob", ANSWERS["bob"][0], *notebooks)
    told = run(root, "grading grade")
    command = re.search("ps1: an ordinary nbgrader assignment; run `(.*)` to grade it", told)
    assert command, told
    run(root, command[1])
    run(root, "nbgrader generate_feedback ps1")
    for student in ("ada", "bob"):
        for notebook in notebooks:
            assert points(root, "ps1", student, notebook) == ANSWERS[student][1] | WITH_ESSAY
            assert (root / "feedback" / student / "ps1" / f"{notebook}.html").is_file()
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        before = {(grade.student, grade.notebook): grade.graded_at for grade in stored_grades(gradebook)}
    run(root, "nbgrader autograde ps1")
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        assert before == {(grade.student, grade.notebook): grade.graded_at for grade in stored_grades(gradebook)}
