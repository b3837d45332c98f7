"""The proof of a step: `check` passes right answers, and names every known mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.authoring.build import build_lesson
from grading.proof.prover import Proof, Prover
from grading.proof.runner import exercises_of, prove_exercise, survivors_as_toml

from ..support.acting_lesson import LESSON
from ..support.course_builder import ACTING, build_course
from ..support.repository import LESSONS, ROOT


@pytest.fixture
def lesson(tmp_path: Path, acting_data: Path) -> Path:
    """The lesson that acts, with its data beside the notebook, where the proof runs the text."""
    ACTING.write(tmp_path)
    (tmp_path / "source" / LESSON).symlink_to(acting_data)
    return tmp_path


def prove(root: Path) -> Proof:
    made = Prover(root, LESSON, (0,))
    return made.prove(made.lesson.steps["halve"])


def edit(root: Path, file: str, old: str, new: str) -> None:
    path = root / "grader_tests" / LESSON / "halve" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_step_is_proved_without_mutants_and_verdicts(lesson):
    proof = prove(lesson)
    assert not proof.problems
    assert str(proof) == "halve: 2 mistakes, 2 named rightly, 0 alternatives"
    assert (proof.verdicts, proof.trials, proof.replay) == ({}, None, None)
    assert (LESSON, "halve") in exercises_of(lesson, [LESSON])
    found = prove_exercise(lesson, LESSON, "halve", True, False)
    assert (found.problems, found.verdicts) == ([], {})
    assert survivors_as_toml(lesson, LESSON, "halve") == ""


def test_a_mistake_that_check_does_not_name_is_a_problem(lesson):
    edit(lesson, "mistakes.py", '{"x / 2": "x // 2"}', '{"x / 2": "x * 0.5"}')
    (problem,) = prove(lesson).problems
    assert "mistake rounds_down: `check` says 'passes'" in str(problem)


def test_a_right_answer_that_check_refuses_is_a_problem(lesson):
    (lesson / "grader_tests" / LESSON / "halve" / "alternatives.py").write_text(
        "# %% twice\ndef halve(x):\n    return 2 * x\n"
    )
    assert "`check` refuses the alternative twice: fails" in str(prove(lesson).problems[0])


@pytest.mark.quick_cases("10_tiles")
@pytest.mark.parametrize("name", LESSONS)
def test_every_step_is_proved(name):
    made = Prover(ROOT, name, (0,))
    for step in made.lesson.steps.values():
        assert not (proof := made.prove(step)).problems, str(proof)


@pytest.mark.full("releases a lesson, runs it and grades a submission")
def test_a_lesson_that_acts_is_released_and_graded(tmp_path):
    root = build_course(tmp_path / "course", [ACTING], release=True, submissions={"ada": {}}, grade=True)
    assert {path.name for path in (root / "release" / LESSON).iterdir()} >= {
        f"{LESSON}.predictions",
        f"{LESSON}.experiment",
        f"{LESSON}.examples",
    }
    assert not build_lesson(root, LESSON), "a second build changes nothing"
