"""A grade knows nothing of an exercise without points, whatever a student makes of its cells."""

from __future__ import annotations

import nbformat
import pytest

from grading.authoring.lesson_text import read_lesson
from grading.coordinator.converters import autograde
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.course import Course
from grading.exercises.lesson import load_lesson

from .support.repository import ROOT

LESSON, NAME = "14_tokens_and_choices", "train_bpe_counted"  # below all that is graded


def place(notebook, begins):
    return next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith(begins))


def test_its_cells_have_no_marks_of_nbgraders():
    notebook = read_lesson(ROOT / "source" / f"{LESSON}.py")
    for begins in (f"def {NAME}", f"check({NAME})"):
        assert "nbgrader" not in notebook.cells[place(notebook, begins)].metadata


@pytest.mark.full("grades five submissions of a whole lesson")
def test_no_grade_changes_by_what_a_student_makes_of_it(released_course):
    root = released_course(LESSON)
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    solved = write_answers(release, correct_answers(load_lesson(ROOT / "grader_tests" / LESSON), 0))
    made = {
        "untouched": None,
        "left-out": "",
        "wrong": f"def {NAME}(*_, **__):\n    return 7\n\ndel train_bpe, encode, check",
        "ends": "import os\nos._exit(1)",
        "unreadable": f"def {NAME}(:",
    }
    for student, code in made.items():
        notebook = nbformat.from_dict(solved)
        at = place(notebook, f"def {NAME}")
        if code == "":
            del notebook.cells[at : at + 2]
        elif code is not None:
            notebook.cells[at].source = code
        hand_in(root, LESSON, student, notebook)
        autograde(Course(root), LESSON, student)
    assert {student: Course(root).scores()[student, LESSON] for student in made} == dict.fromkeys(made, (20, 20))
