"""The answers in grader_tests and the recorded verdicts have the same names."""

from __future__ import annotations

import pytest

from grading.exercises.exercise import Exercise
from grading.exercises.lesson import load_lesson
from grading.proof.verdict_records import read_records, record

from ..support.repository import LESSONS, ROOT


def known_answers(exercise: Exercise) -> set[str]:
    """The names of all answers that have a recorded verdict."""
    return {
        "solution",
        "oracle",
        *(f"alternative {right.name}" for right in exercise.alternatives),
        *(f"mistake {wrong.name}" for mistake in exercise.mistakes for wrong in mistake.all_forms),
    }


@pytest.mark.parametrize("lesson", LESSONS)
def test_exactly_the_known_answers_have_a_recorded_verdict(lesson):
    known = {
        name: known_answers(made) for name, made in load_lesson(ROOT / "grader_tests" / lesson).all_exercises.items()
    }
    assert {name: set(answers) for name, answers in read_records(ROOT, lesson).items()} == known


def test_what_is_recorded_again_gives_the_same_bytes(tmp_path):
    for folder in ("tests/verdicts", "grader_tests"):
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        (tmp_path / folder).symlink_to(ROOT / folder) if folder == "grader_tests" else (tmp_path / folder).mkdir()
    record(tmp_path, LESSONS[2], read_records(ROOT, LESSONS[2]))
    file = f"tests/verdicts/{LESSONS[2]}.json"
    assert (tmp_path / file).read_bytes() == (ROOT / file).read_bytes()
