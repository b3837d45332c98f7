"""A run of a solved lesson proves its predictions and its experiment where the notebook asks.

Does not cover: the course's own lessons (tests/test_notebooks.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.authoring.lesson_text import read_lesson
from grading.course_dir.paths import CONFIG
from grading.exercises.experiment import FILE as EXPERIMENT
from grading.exercises.prediction import FILE

from .support.acting_lesson import LESSON
from .support.course_builder import ACTING
from .support.lesson_runs import SolvedRun, run_solved


@pytest.fixture
def lesson_files(tmp_path: Path, acting_data: Path) -> Path:
    """The text and grader tests of the lesson that acts, with its data beside."""
    ACTING.write(tmp_path)
    (tmp_path / CONFIG).write_text("c = get_config()\n")
    for file in acting_data.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def solved(root: Path) -> SolvedRun:
    return run_solved(read_lesson(root / "source" / f"{LESSON}.py"), root / "grader_tests" / LESSON, root)


def test_answers_and_findings_are_proved_where_the_notebook_asks(lesson_files):
    ran = solved(lesson_files)
    right = {"untouched": True, "proof": True, "answer": True}
    assert ran.predictions == [
        {"name": "the weights that grow", **right},
        {"name": "the shape", **right, "result": True},
    ]
    assert (ran.confirms, ran.unlike) == (True, [])


def test_a_wrong_answer_a_proof_that_raises_and_another_finding_are_found(lesson_files):
    tests = lesson_files / "grader_tests" / LESSON
    text = (tests / FILE).read_text()
    (tests / FILE).write_text(
        text.replace("answer = [3, 1]", "answer = [3, 2]").replace("torch.allclose", "torch.all_close")
    )
    text = (tests / EXPERIMENT).read_text()
    (tests / EXPERIMENT).write_text(text.replace("ones(2)", "ones(3)").replace(".sum()", ".sum() + 1"))
    ran = solved(lesson_files)
    first, second = ran.predictions
    assert str(first["proof"]).startswith("AttributeError: ")
    assert second["result"] is False
    assert not ran.confirms
    assert [one.split(":")[0] for one in ran.unlike] == ["That is the sum of both shares."]
