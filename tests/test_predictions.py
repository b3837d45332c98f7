"""Every answer of a prediction and every finding is what the solved notebook shows, at the place where it asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.exercises.experiment import FILE as EXPERIMENT
from grading.exercises.prediction import FILE, load_predictions

from .support.acting_lesson import LESSON
from .support.course_builder import ACTING
from .support.predictions import proved_experiment, proved_predictions
from .support.repository import LESSONS, ROOT

PREDICTED = [lesson for lesson in LESSONS if (ROOT / "grader_tests" / lesson / FILE).is_file()]
EXPLORED = [lesson for lesson in LESSONS if (ROOT / "grader_tests" / lesson / EXPERIMENT).is_file()]


@pytest.fixture
def lesson_files(tmp_path: Path, acting_data: Path) -> Path:
    """The text and grader tests of the lesson that acts, with its data beside."""
    ACTING.write(tmp_path)
    for file in acting_data.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def prove(root: Path) -> list[dict[str, object]]:
    return proved_predictions(root / "source" / f"{LESSON}.py", root / "grader_tests" / LESSON, root)


@pytest.mark.slow
def test_a_proof_is_evaluated_where_the_notebook_asks(lesson_files):
    right = {"untouched": True, "proof": True, "answer": True}
    assert prove(lesson_files) == [
        {"name": "the weights that grow", **right},
        {"name": "the shape", **right, "result": True},
    ]


@pytest.mark.slow
def test_a_wrong_answer_and_a_proof_that_raises_are_found(lesson_files):
    file = lesson_files / "grader_tests" / LESSON / FILE
    text = file.read_text().replace("answer = [3, 1]", "answer = [3, 2]").replace("torch.allclose", "torch.all_close")
    file.write_text(text)
    first, second = prove(lesson_files)
    assert str(first["proof"]).startswith("AttributeError: ")
    assert second["result"] is False


@pytest.mark.slow
@pytest.mark.parametrize("lesson", PREDICTED)
def test_every_answer_of_a_lesson_is_proved(lesson, tmp_path):
    tests = ROOT / "grader_tests" / lesson
    found = proved_predictions(ROOT / "source" / f"{lesson}.py", tests, tmp_path)
    assert [one["name"] for one in found] == list(load_predictions(tests))
    for one in found:
        assert one["untouched"] and one["proof"] is True and one["answer"] is True and one.get("result", True), one


@pytest.mark.slow
def test_a_solution_that_finds_something_else_is_found(lesson_files):
    where = lesson_files / "source" / f"{LESSON}.py", lesson_files / "grader_tests" / LESSON, lesson_files
    assert proved_experiment(*where) == (True, [])
    file = where[1] / EXPERIMENT
    file.write_text(file.read_text().replace("ones(2)", "ones(3)").replace(".sum()", ".sum() + 1"))
    right, unlike = proved_experiment(*where)
    assert not right
    assert [one.split(":")[0] for one in unlike] == ["That is the sum of both shares."]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", EXPLORED)
def test_every_finding_of_a_lesson_is_proved(lesson, tmp_path):
    found = proved_experiment(ROOT / "source" / f"{lesson}.py", ROOT / "grader_tests" / lesson, tmp_path)
    assert found == (True, [])
