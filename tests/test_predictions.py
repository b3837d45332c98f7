"""Predictions: every answer is what the solved notebook shows, at the place where it asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.exercises.prediction import FILE, load_predictions

from .support.acting_lesson import LESSON
from .support.course_builder import ACTING
from .support.predictions import proved_predictions
from .support.repository import LESSONS, ROOT

PREDICTED = [lesson for lesson in LESSONS if (ROOT / "grader_tests" / lesson / FILE).is_file()]


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
