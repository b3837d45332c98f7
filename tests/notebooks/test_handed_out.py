"""What feedback says was repaired is the student's doing, and not a new release's."""

from __future__ import annotations

import copy
import json
from typing import Any

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import compute_checksum

from grading.coordinator.converters import generate_assignment
from grading.course import Course
from grading.gradebook.view import load_released
from grading.notebooks.cells import RECORD
from grading.notebooks.handed_out import checksum, todays_release
from grading.notebooks.repair import FAILED, NOTHING_FOUND
from grading.notebooks.submitted_file import AGAIN, WITHOUT_OUTPUTS, asks_for_another_file

from ..support.course_builder import released_notebook
from ..support.damaged_notebooks import ANSWERS, cell_of
from ..support.nbgrader_runner import course_config
from ..support.two_exercise_course import LESSON


@pytest.fixture
def solved(course: Any) -> dict[str, Any]:
    """The first release with both answers."""
    notebook = copy.deepcopy(course.release)
    for cell in notebook.cells:
        cell.source = ANSWERS.get(cell.id, cell.source)
    return dict(notebook)


def release_again(course: Any, change: Any) -> None:
    """Change the lesson's source and release it."""
    path = course.root / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook)
    path.write_text(json.dumps(notebook))
    generate_assignment(Course(course.root), LESSON)


def change_text_and_points(notebook: Any) -> None:
    check = cell_of(notebook, "check_double")
    check["source"] = ["check(double)  # as asked\n", *"".join(check["source"]).splitlines(keepends=True)[1:]]
    cell_of(notebook, "check_halve")["metadata"]["nbgrader"]["points"] = 8


def drop_double(notebook: Any) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if "double" not in cell["id"] or cell["id"] == "doubling"]


def add_thirds(notebook: Any) -> None:
    for name in ("halve", "check_halve"):
        cell = copy.deepcopy(cell_of(notebook, name))
        cell["id"] = cell["metadata"]["nbgrader"]["grade_id"] = name.replace("halve", "third")
        cell["source"] = "".join(cell["source"]).replace("halve", "third")
        notebook["cells"].append(cell)


def make_both_graded_by_hand(notebook: Any) -> None:
    for name in ("double", "halve"):
        cell_of(notebook, name)["metadata"]["nbgrader"] |= {"grade": True, "points": 2}


def repairs(notebook: Any) -> list[str]:
    return list(notebook.metadata[RECORD].repairs)


def test_checksums_are_nbgraders(course: Any) -> None:
    marked = [cell for cell in course.release.cells if "nbgrader" in cell.metadata]
    assert len(marked) == 4
    for cell in marked:
        assert checksum(cell) == compute_checksum(cell) == cell.metadata.nbgrader.checksum
        cell.source += " "
        assert checksum(cell) == compute_checksum(cell) != cell.metadata.nbgrader.checksum


def test_todays_checksums_are_those_of_the_released_cells(course: Any) -> None:
    directory = CourseDirectory(config=course_config(course.root))
    found = todays_release(load_released(directory.db_url, LESSON, LESSON, directory))
    marks = [cell.metadata.nbgrader for cell in course.release.cells if "nbgrader" in cell.metadata]
    assert found == {one["grade_id"]: one["checksum"] for one in marks}


def test_marks_that_the_student_changed_in_a_check_are_said(sanitize: Any, solved: Any) -> None:
    cell_of(solved, "check_double").metadata.nbgrader.points = 99
    assert "restored: check_double" in "".join(repairs(sanitize(solved)))


@pytest.mark.parametrize("change", [change_text_and_points, drop_double, add_thirds, make_both_graded_by_hand])
def test_what_the_teacher_changed_is_not_said_to_be_repaired(
    course: Any, sanitize: Any, solved: Any, change: Any
) -> None:
    release_again(course, change)
    notebook = sanitize(solved)
    assert repairs(notebook) == []
    expected = [
        cell.metadata.nbgrader for cell in released_notebook(course.root, LESSON).cells if "nbgrader" in cell.metadata
    ]
    found = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert {marks["grade_id"] for marks in found} == {marks["grade_id"] for marks in expected}


@pytest.mark.parametrize("change", [change_text_and_points, add_thirds])
def test_what_the_student_changed_is_said_also_in_an_earlier_release(
    course: Any, sanitize: Any, solved: Any, change: Any
) -> None:
    release_again(course, change)
    cell_of(solved, "check_double")["source"] = "print(5)"
    solved["cells"].remove(cell_of(solved, "check_halve"))
    cell_of(solved, "halve").metadata = nbformat.from_dict({})
    said = "\n".join(repairs(sanitize(solved)))
    assert "The check had been changed; the original is used: double." in said
    assert "The check was missing and was put back: halve." in said
    assert "The marks that nbgrader needs were lost or changed on these cells and were restored: halve." in said
    assert "third" not in said


def test_missing_cells_are_reported_if_the_student_has_the_new_release(course: Any, sanitize: Any) -> None:
    release_again(course, add_thirds)
    newer = dict(released_notebook(course.root, LESSON))
    newer["cells"].remove(cell_of(newer, "check_third"))
    assert repairs(sanitize(newer)) == ["The check was missing and was put back: third."]


def test_marks_of_another_lesson_are_the_students(sanitize: Any, solved: Any) -> None:
    strange = nbformat.v4.new_code_cell("1", metadata={"nbgrader": {"grade_id": "dot", "checksum": "0" * 32}})
    solved["cells"].append(strange)
    assert repairs(sanitize(solved)) == [
        "Marks that belong to no exercise of this lesson were removed from cells: dot."
    ]


@pytest.mark.parametrize(
    ("reason", "asked"),
    [
        (f"The file is empty. {AGAIN}", True),
        (f"The file is very large. {WITHOUT_OUTPUTS}", True),
        (NOTHING_FOUND, True),
        (FAILED.format("KeyError"), False),
        ("The judge that read it ended.", False),
        ("", False),
    ],
)
def test_only_what_another_file_mends_is_asked_for(reason: str, asked: bool) -> None:
    assert asks_for_another_file(reason) == asked
