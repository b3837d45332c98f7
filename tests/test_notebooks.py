"""Every notebook runs from top to bottom in a real kernel: solved, untouched and half solved.

A solved notebook trains its models to the end, and everything that tests ask of it is read off one run. The others
train a tenth as long, with the same cells and pictures.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_grade

from course.outline import counts
from grading.authoring.lesson_text import read_lesson
from grading.authoring.predictions import predicted_names
from grading.coordinator.demo_class import correct_answers, write_answers
from grading.exercises.experiment import FILE as EXPERIMENT
from grading.exercises.lesson import load_lesson
from grading.exercises.prediction import load_predictions
from grading.notebooks.cells import check_of, grade_id

from .support.course_builder import ACTING, build_course
from .support.lesson_runs import SolvedRun, run_solved
from .support.repository import LESSONS, ROOT, SEED, of_this_week
from .support.run_notebook import run, shorten_training

HALF_DONE = (
    "def {name}(*args, **kwargs):\n    return None",
    "def {name}(*args, **kwargs):\n    raise IndexError('a bug of mine')",
    "import torch\n\ndef {name}(*args, **kwargs):\n    return torch.zeros(2, 3, 5)",
    "{name} = 3",
)


def earned(notebook: nbformat.NotebookNode) -> dict[str, float]:
    return {grade_id(cell): determine_grade(cell)[0] for cell in notebook.cells if is_grade(cell)}


@pytest.fixture(scope="session")
def solved(released_course: Callable[[str], Path]) -> Callable[[str], SolvedRun]:
    """`solved(lesson)`: its notebook with solutions, run once for all tests of this process."""

    @cache
    def run_once(lesson: str) -> SolvedRun:
        folder = released_course(lesson) / "source" / lesson
        notebook = nbformat.read(folder / f"{lesson}.ipynb", as_version=4)
        return run_solved(notebook, ROOT / "grader_tests" / lesson, folder)

    return run_once


@pytest.mark.lesson
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_source_runs_and_its_solutions_earn_all_points(solved, lesson):
    done = solved(lesson).notebook
    full = {grade_id(cell): cell.metadata.nbgrader.points for cell in done.cells if is_grade(cell)}
    assert earned(done) == full


@pytest.mark.lesson
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_prediction_and_finding_is_what_the_solved_notebook_shows(solved, lesson):
    ran, tests = solved(lesson), ROOT / "grader_tests" / lesson
    assert [one["name"] for one in ran.predictions] == list(load_predictions(tests))
    for one in ran.predictions:
        assert one["untouched"] and one["proof"] is True and one["answer"] is True and one.get("result", True), one
    assert (ran.confirms, ran.unlike) == (True if (tests / EXPERIMENT).is_file() else None, [])


@pytest.mark.lesson
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_untouched_release_runs_and_earns_nothing(released_course, lesson):
    folder = released_course(lesson) / "release" / lesson
    done = run(shorten_training(nbformat.read(folder / f"{lesson}.ipynb", as_version=4)), folder)
    assert set(earned(done).values()) == {0.0}


@pytest.mark.lesson
def test_a_half_solved_release_runs_whatever_is_in_it(released_course):
    lesson = LESSONS[1]
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


@pytest.mark.lesson
def test_nbgrader_validate_passes_only_what_is_right(tmp_path):
    root = build_course(tmp_path / "course", [ACTING], seed=SEED, release=True)
    path = root / "release" / ACTING.name / f"{ACTING.name}.ipynb"  # with the data that `check` needs beside it
    release = nbformat.read(path, as_version=4)
    assert "Success! Your notebook passes all the tests." not in validated(path)
    nbformat.write(write_answers(release, {"double": "def double(x):\n    return x + x"}), path)
    assert "Success! Your notebook passes all the tests." in validated(path)


def validated(path: Path) -> str:
    patience = "--Execute.iopub_timeout=120"  # nbgrader's four seconds are too few on a busy machine
    command = [Path(sys.executable).parent / "nbgrader", "validate", patience, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_is_folded_before_the_first_section_and_a_quiz_asks_predictions(lesson):
    """What a fold hides is an answer; a quiz shows its answers only after a guess."""
    cells = read_lesson(ROOT / "source" / f"{lesson}.py").cells
    sections = [i for i, cell in enumerate(cells) if re.search(r"^## ", cell.source, re.M)]
    has_quiz = lesson >= "02" and counts(lesson)
    assert cells[sections[0]].source.startswith("## Quiz: ") == has_quiz
    first = sections[has_quiz]
    assert not [cell.source for cell in cells[:first] if "<details" in cell.source]
    numbers = re.findall(r"^\*\*(\d)\.\*\* ", cells[sections[0]].source, re.M)
    names = list(predicted_names(NotebookNode(cells=cells[:first])))
    assert names == [f"quiz {number}" for number in numbers] == [f"quiz {n}" for n in (1, 2, 3)[: len(names)]]
    assert bool(names) == has_quiz
    assert names == list(load_predictions(ROOT / "grader_tests" / lesson))[: len(names)]


@pytest.mark.full("runs lessons once more")
@pytest.mark.parametrize("lesson", of_this_week(LESSONS, 2))
def test_the_release_runs_with_other_right_answers_and_with_empty_cells(released_course, lesson):
    """Exercises without points keep their stubs, whose signatures may not need a name from an exercise's answer."""
    folder = released_course(lesson) / "release" / lesson
    answers = dict[str, str]()
    for number, (name, exercise) in enumerate(load_lesson(ROOT / "grader_tests" / lesson).exercises.items()):
        answers[name] = "" if number % 3 == 1 else exercise.alternatives[number % len(exercise.alternatives)].cell
    release = shorten_training(nbformat.read(folder / f"{lesson}.ipynb", as_version=4))
    done = earned(run(write_answers(release, answers), folder))
    assert all(done[check_of(name)] == 0 for name, answer in answers.items() if not answer)
    assert done[check_of(next(iter(answers)))] > 0
