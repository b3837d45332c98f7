"""Every notebook runs from top to bottom in a real kernel: solved, untouched and half solved.

A solved notebook trains its models to the end; the others a tenth as long, with the same cells and pictures. `make
test-notebooks` runs every lesson, `make test` the shortest.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import determine_grade, is_grade

from grading.authoring.lesson_text import read_lesson
from grading.coordinator.demo_class import correct_answers, write_answers
from grading.exercises.lesson import load_lesson
from grading.notebooks.cells import check_of, grade_id

from .support.repository import LESSONS, ROOT
from .support.run_notebook import run, shorten_training

HALF_DONE = (
    "def {name}(*args, **kwargs):\n    return None",
    "def {name}(*args, **kwargs):\n    raise IndexError('a bug of mine')",
    "import torch\n\ndef {name}(*args, **kwargs):\n    return torch.zeros(2, 3, 5)",
    "{name} = 3",
)


def earned(notebook: nbformat.NotebookNode) -> dict[str, float]:
    return {grade_id(cell): determine_grade(cell)[0] for cell in notebook.cells if is_grade(cell)}


@pytest.mark.quick_cases("00_start")
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_source_runs_and_its_solutions_earn_all_points(released_course, lesson):
    folder = released_course(lesson) / "source" / lesson
    done = run(nbformat.read(folder / f"{lesson}.ipynb", as_version=4), folder)
    full = {grade_id(cell): cell.metadata.nbgrader.points for cell in done.cells if is_grade(cell)}
    assert earned(done) == full


@pytest.mark.quick_cases("00_start")
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_untouched_release_runs_and_earns_nothing(released_course, lesson):
    folder = released_course(lesson) / "release" / lesson
    done = run(shorten_training(nbformat.read(folder / f"{lesson}.ipynb", as_version=4)), folder)
    assert set(earned(done).values()) == {0.0}


@pytest.mark.quick_cases("01_dot_products")
@pytest.mark.parametrize("lesson", LESSONS[1::3])  # what goes wrong is shown by code that all lessons share
def test_a_half_solved_release_runs_whatever_is_in_it(released_course, lesson):
    folder = released_course(lesson) / "release" / lesson
    exercises = load_lesson(ROOT / "grader_tests" / lesson)
    answers = correct_answers(exercises, 0)
    for number, name in enumerate(list(answers)[1:]):
        answers[name] = HALF_DONE[number % len(HALF_DONE)].format(name=name)
    release = shorten_training(nbformat.read(folder / f"{lesson}.ipynb", as_version=4))
    done = run(write_answers(release, answers), folder)
    full = {grade_id(cell): cell.metadata.nbgrader.points for cell in done.cells if is_grade(cell)}
    whole = [earned(done)[name] == points for name, points in full.items()]
    assert whole == [True] + [False] * (len(whole) - 1)


@pytest.mark.quick_cases("right-True")
@pytest.mark.parametrize(("answers", "passes"), [("untouched", False), ("wrong", False), ("right", True)])
def test_nbgrader_validate_passes_only_what_is_right(released_course, tmp_path, answers, passes):
    lesson = LESSONS[0]
    exercises = load_lesson(ROOT / "grader_tests" / lesson)
    chosen = {} if answers == "untouched" else correct_answers(exercises, 0)
    if answers == "wrong":
        chosen[next(iter(chosen))] = HALF_DONE[0].format(name=next(iter(chosen)))
    release = nbformat.read(released_course(lesson) / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    path = tmp_path / f"{lesson}.ipynb"
    nbformat.write(write_answers(release, chosen), path)
    patience = "--Execute.iopub_timeout=120"  # nbgrader's four seconds are too few on a busy machine
    command = [Path(sys.executable).parent / "nbgrader", "validate", patience, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert ("Success! Your notebook passes all the tests." in done.stdout) == passes, done.stdout + done.stderr


@pytest.mark.parametrize("lesson", LESSONS[2:])
def test_a_lesson_opens_with_three_questions_on_what_came_before(lesson):
    text = read_lesson(ROOT / "source" / f"{lesson}.py")
    sections = [cell.source for cell in text.cells if cell.source.startswith("## ")]
    review = sections[0]
    assert review.startswith("## Review: ")
    assert "*Review* · about 3 minutes." in review
    asked = re.split(r"^\*\*\d\.\*\* ", review, flags=re.M)[1:]
    assert len(asked) == 3
    assert all(one.count("<details><summary>Answer</summary>") == one.count("</details>") == 1 for one in asked)


@pytest.mark.full("runs every lesson once more")
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_release_runs_with_other_right_answers_and_with_empty_cells(released_course, lesson):
    """Steps and challenges keep their stubs, whose signatures may not need a name from an exercise's answer."""
    folder = released_course(lesson) / "release" / lesson
    answers = dict[str, str]()
    for number, (name, exercise) in enumerate(load_lesson(ROOT / "grader_tests" / lesson).exercises.items()):
        answers[name] = "" if number % 3 == 1 else exercise.alternatives[number % len(exercise.alternatives)].cell
    release = shorten_training(nbformat.read(folder / f"{lesson}.ipynb", as_version=4))
    done = earned(run(write_answers(release, answers), folder))
    assert all(done[check_of(name)] == 0 for name, answer in answers.items() if not answer)
    assert done[check_of(next(iter(answers)))] > 0
