"""What the build asks of a challenge, and that a grade knows nothing of it, whatever a student makes of its cells."""

from __future__ import annotations

import nbformat
import pytest

from grading.authoring.build import hold_to_the_rules
from grading.authoring.lesson_text import read_lesson
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.coordinator.nbgrader_api import autograde, scores
from grading.errors import BuildError, ExerciseError
from grading.exercises.lesson import load_lesson

from .support.course_builder import build_course
from .support.repository import ROOT

LESSON, NAME = "05_causal_mask", "sliding_window"
TEXT, TESTS = ROOT / "source" / f"{LESSON}.py", ROOT / "grader_tests" / LESSON


def place(notebook, begins):
    return next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith(begins))


def test_a_challenge_stands_below_all_that_is_graded_and_has_a_check():
    lesson = load_lesson(TESTS)
    notebook = read_lesson(TEXT)
    hold_to_the_rules(notebook, TEXT, lesson)
    stub = notebook.cells.pop(place(notebook, f"def {NAME}"))
    with pytest.raises(BuildError, match="below all graded cells"):
        hold_to_the_rules(notebook, TEXT, lesson)
    notebook.cells.insert(3, stub)
    with pytest.raises(BuildError, match="below all graded cells"):
        hold_to_the_rules(notebook, TEXT, lesson)
    notebook = read_lesson(TEXT)
    del notebook.cells[place(notebook, f"check({NAME})")]
    with pytest.raises(BuildError, match=rf"needs a cell `check\({NAME}\)`"):
        hold_to_the_rules(notebook, TEXT, lesson)


def test_its_cells_have_no_marks_of_nbgraders():
    notebook = read_lesson(TEXT)
    for begins in (f"def {NAME}", f"check({NAME})"):
        assert "nbgrader" not in notebook.cells[place(notebook, begins)].metadata


@pytest.mark.parametrize(("graded", "free"), [((NAME,), ()), ((), ("causal_mask",))])
def test_what_is_declared_as_one_thing_is_not_listed_as_the_other(tmp_path, graded, free):
    build_course(tmp_path, [LESSON])
    listed = f"EXERCISES = {graded!r}\nCHALLENGES = {free!r}\n"
    (tmp_path / "grader_tests" / LESSON / "__init__.py").write_text(listed)
    with pytest.raises(ExerciseError, match="and not both"):
        load_lesson(tmp_path / "grader_tests" / LESSON)


@pytest.mark.full("grades five submissions of a whole lesson")
def test_no_grade_changes_by_what_a_student_makes_of_a_challenge(released_course):
    root = released_course(LESSON)
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    solved = write_answers(release, correct_answers(load_lesson(TESTS), 0))
    made = {
        "untouched": None,
        "left-out": "",
        "wrong": f"def {NAME}(*_, **__):\n    return 7\n\ndel causal_mask, masked_softmax, check",
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
        autograde(root, LESSON, student)
    assert {student: scores(root)[student, LESSON] for student in made} == dict.fromkeys(made, (20, 20))
