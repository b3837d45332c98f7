"""Whole submissions, graded by `nbgrader autograde`'s own converter, get the verdicts that the corpus asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grading.coordinator.converters import autograde
from grading.course import Course
from grading.judge import start_judge
from grading.judge.kernel import session

from ..support.corpus import Submission, cases
from ..support.course_builder import build_course
from ..support.repository import SEED
from ..support.shared_folders import BuildOnce

HONEST = ("right", "wrong", "broken", "tamper")


@pytest.fixture
def released(build_course_once: BuildOnce, fresh_copy: Callable[[Path], Path]) -> Callable[[str], Path]:
    """`released(lesson)`: a course with this lesson, released; nothing is handed in."""

    def copy(lesson: str) -> Path:
        def build(root: Path) -> None:
            build_course(root, [lesson], seed=SEED, release=True)

        return fresh_copy(build_course_once(f"released-{lesson}", build))

    return copy


def graded(root, case: Submission, course: Course | None = None) -> dict:
    """Exercise -> verdict of one case."""
    student = case.hand_in(root)
    autograde(course or Course(root), case.lesson, student, again=True)
    return {g.verdict.exercise: g.verdict for g in Course(root).verdicts() if g.student == student}


def assert_as_asked(case: Submission, found: dict) -> None:
    reports = {name: (v.earned, v.status, v.mistake, v.grader_error) for name, v in found.items()}
    assert not case.misjudged({name: v.earned for name, v in found.items()}), reports
    for name, status in case.status.items():
        assert found[name].status == status, reports
    for name, mistake in case.mistake.items():
        assert found[name].mistake == mistake, reports
    assert sorted(n for n, v in found.items() if v.status == "needs a person") == sorted(case.needs_a_person), reports


@pytest.mark.quick_cases("broken-truncated", "right-as-a-decorated-method", "tamper-deleted-check", "wrong-syntax")
@pytest.mark.parametrize("case", cases(*HONEST), ids=lambda case: case.name)
def test_a_submission_gets_its_verdict(released, case):
    root = released(case.lesson)
    found = graded(root, case)
    assert_as_asked(case, found)
    total, _ = Course(root).scores()[case.name, case.lesson]
    assert total == sum(verdict.earned for verdict in found.values())


@pytest.mark.full
@pytest.mark.parametrize("case", cases("right", "wrong")[::3], ids=lambda case: case.name)
def test_an_ordinary_kernel_gives_the_same_verdict_and_says_so(released, case):
    root = released(case.lesson)
    found = graded(root, case, Course(root, unsandboxed=True))
    assert_as_asked(case, found)
    assert not any(verdict.sandboxed for verdict in found.values())


@pytest.mark.full("grades like its neighbours, with another device")
def test_without_a_gpu_the_cpu_judges(released):
    case = next(case for case in cases("right"))
    root = released(case.lesson)
    course = Course(root)
    course.config.JudgedExecute.device = "cuda"
    assert_as_asked(case, graded(root, case, course))


def test_where_the_machine_keeps_the_kernel_from_running_a_person_decides(released, monkeypatch):
    monkeypatch.setattr(start_judge, "IN_PROCESS", True)  # where what is changed here is seen
    monkeypatch.setattr(session, "PATIENCE", 0.0)  # as if every wait had been ten times its limit
    monkeypatch.setattr(session, "LOOK_EVERY", 0.0)
    case = next(case for case in cases("right"))
    root = released(case.lesson)
    found = graded(root, case)
    assert {verdict.status for verdict in found.values()} == {"needs a person"}
    assert all("too busy" in verdict.grader_error for verdict in found.values())
