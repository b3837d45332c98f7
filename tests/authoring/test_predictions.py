"""Predictions, steps and experiments in a lesson's text: what the build holds them to, and the data that it makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course.notebook import catalog
from grading.authoring.build import check_lesson
from grading.authoring.lesson_text import read_lesson
from grading.authoring.predictions import check_predictions, experiment_data, prediction_data
from grading.errors import BuildError, ExerciseError
from grading.exercises.lesson import load_lesson

from ..support.acting_lesson import LESSON, NAMES
from ..support.course_builder import ACTING
from ..support.repository import LESSONS, ROOT


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """A course with the lesson, not built."""
    ACTING.write(tmp_path)
    return tmp_path


def hold(root: Path) -> None:
    text, tests = root / "source" / f"{LESSON}.py", root / "grader_tests" / LESSON
    check_predictions(read_lesson(text), tests)
    check_lesson(read_lesson(text), text, load_lesson(tests))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('predict("the shape"', 'predict("the form"', 'predict("the form", …): grader_tests/01_acts/predictions.toml'),
        ('predict("the shape", ..., scores[:, None].shape)', "pass", '["the shape"]: 01_acts.py has no call predict('),
        ('predict("the shape"', 'predict("the weights that grow"', "2 calls are predict("),
        ('check("experiment", finding)', "pass", "has no call check"),
        (
            "# %%\ncheck(halve)",
            '# %% tags=["exercise"]\nhalve(4.0)',
            "the step halve needs a cell `check(halve)` below the cell that defines it",
        ),
        (
            '# %% tags=["code"]\nprint',
            "# %%\nprint",
            "the cell 'print(\"half of 3:\", halve(torch.tensor(3.0)))', at 'Exercise: halve",
        ),
        ('# %% tags=["code"]\nprint', "# %%\nprint", "has no kind. Write `code` (to read), `picture`, `model` or"),
        ("# %%\nfinding", '# %% tags=["picture"]\nfinding', "more than one kind: picture, experiment. Remove the tag"),
        ("importance ●○○, about 1 minute", "about 1 minute", "'def halve(x):' is an exercise without a rating"),
        ("def halve(x):", "def half_of(x):", "the step halve needs a cell that defines it"),
        ('"points": 20', '"points": 0', "check_double: expected more than 0 points, got 0"),
        ("### Exercise: halve a number", "### Exercise: half", "refers to the heading 'Exercise: halve a number'"),
        ("def halve(x):", "def halve(x: Callable):", "the cell 'def halve(x: Callable):' reads Callable"),
        (
            "# What is the shape of",
            "# What is the\n# # shape of",
            "the line '# shape of `scores[:, None]`?' would be shown",
        ),
    ],
)
def test_text_and_data_must_agree(lesson, old, new, fault):
    hold(lesson)
    edit(lesson / "source" / f"{LESSON}.py", old, new)
    with pytest.raises(BuildError) as refused:
        hold(lesson)
    assert fault in str(refused.value)


def test_an_experiment_needs_its_file(lesson):
    (lesson / "grader_tests" / LESSON / "experiment.toml").unlink()
    with pytest.raises(BuildError, match=r"has a call check.*but grader_tests/01_acts has no experiment.toml"):
        hold(lesson)


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (NAMES.replace('("halve",)', "()").replace('("double",)', '("double", "halve")'), "listed in STEPS, and not"),
        (NAMES.replace('("halve",)', '("halve", "double")').replace('("double",)', "()"), "listed in STEPS, and not"),
    ],
)
def test_a_step_is_listed_as_one(lesson, names, fault):
    (lesson / "grader_tests" / LESSON / "__init__.py").write_text(names)
    with pytest.raises(ExerciseError, match=fault):
        load_lesson(lesson / "grader_tests" / LESSON)


def test_a_step_has_no_points_and_needs_no_alternatives(lesson):
    folder = lesson / "grader_tests" / LESSON / "halve"
    (folder / "alternatives.py").unlink()
    assert load_lesson(lesson / "grader_tests" / LESSON).steps["halve"].points == 0


def test_a_step_whose_criteria_have_points_is_held_to_what_a_graded_exercise_is(lesson):
    folder = lesson / "grader_tests" / LESSON / "halve"
    edit(folder / "contract.py", '("values")', '("values", points=1)')
    with pytest.raises(ExerciseError, match="mistake rounds_down names no criterion that it loses"):
        load_lesson(lesson / "grader_tests" / LESSON)


def test_the_data_has_the_answers_and_no_proof(lesson):
    data = json.loads(prediction_data(lesson / "grader_tests" / LESSON))
    assert data["the shape"]["answer"] == [3, 1]
    assert all("proof" not in entry for entry in data.values())
    assert json.loads(experiment_data(lesson / "grader_tests" / LESSON))["range"] == [0.4, 0.6]


@pytest.mark.parametrize("lesson_name", LESSONS)
def test_the_shipped_predictions_and_experiments_are_current(lesson_name):
    tests = ROOT / "grader_tests" / lesson_name
    for ending, made in (
        (catalog.PREDICTIONS, prediction_data(tests)),
        (catalog.EXPERIMENTS, experiment_data(tests)),
    ):
        file = catalog.EXAMPLES / f"{lesson_name}{ending}"
        assert (file.read_bytes() if file.is_file() else b"") == made, "run `grading build`"


def test_a_mistake_of_an_exercise_names_what_it_loses(lesson):
    mistakes = lesson / "grader_tests" / LESSON / "double" / "mistakes.py"
    mistakes.write_text(
        "from .contract import double\n"
        'double.mistake("adds").full_code("def double(x):\\n    return x + 2").feedback("You add 2.")\n'
    )
    with pytest.raises(ExerciseError, match="mistake adds names no criterion that it loses: add `loses=`"):
        load_lesson(lesson / "grader_tests" / LESSON)
