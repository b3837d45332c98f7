"""Hostile submissions in one real `nbgrader autograde` batch, between honest neighbours and beside canaries.

Attacks are bounded: what they write, start and ask for harms nothing even where they succeed.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.course import Course
from grading.exercises.lesson import load_lesson

from ..support.canaries import Canaries, register, told, with_secret
from ..support.corpus import ROOT, cases, selected, selected_cases

LESSON = "02_softmax"
KINDS = ("break", "escape", "exhaust", "forge", "peek")
QUICK = ("break-exit", "escape-network", "exhaust-recursion", "forge-answer-claims-a-score", "peek-grader-tests")
LIMITS = """
c.ExecutePreprocessor.timeout = 4
c.JudgedExecute.limits = {"memory": 1536 * 2**20, "disk": 64 * 2**20, "processes": 64}
"""


@pytest.fixture(scope="module")
def batch(request, released_course):
    """After the hostile submissions were graded: the course, the command, what was heard, what was left running."""
    root = released_course(LESSON)
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    honest = correct_answers(load_lesson(ROOT / "grader_tests" / LESSON), 1)
    with Canaries() as canaries:
        handed_in = selected_cases(request) or cases(*KINDS)
        for case in handed_in:
            case.hand_in(root, canaries)
        for kind in {*selected(request, "kind")}:
            hand_in(root, LESSON, f"{kind}-honest", with_secret(write_answers(release, honest)))
            register(root, f"{kind}-honest")
        config = root / "nbgrader_config.py"
        before = config.read_text()
        config.write_text(before + LIMITS)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, **canaries.environment, "PATH": path}
        command = ["nbgrader", "autograde", LESSON, "--force"]
        with _orphans() as left_running:
            done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
            time.sleep(4)  # longer than what an attack waits before it strikes
            left = left_running()
        config.write_text(before)
        yield root, done, canaries.sang(), left


@contextmanager
def _orphans() -> Iterator[Callable[[], set[str]]]:
    """While entered, what a child of ours leaves running becomes a child of ours; the value tells which there are."""
    PR_SET_CHILD_SUBREAPER = 36

    def adopt(yes: bool) -> None:
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(yes), 0, 0, 0)

    def children() -> set[str]:
        return {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}

    before = children()
    adopt(True)
    try:
        yield lambda: children() - before
    finally:
        adopt(False)


@pytest.mark.quick_cases(*QUICK)
@pytest.mark.parametrize("case", cases(*KINDS), ids=lambda case: case.name)
def test_a_hostile_submission_gets_what_its_tensors_earn(batch, case):
    root = batch[0]
    found = {g.verdict.exercise: g.verdict for g in Course(root).verdicts() if g.student == case.name}
    reports = {
        name: (v.earned, v.status, [c.finding for c in v.criteria][:2], v.grader_error) for name, v in found.items()
    }
    assert not case.misjudged({name: v.earned for name, v in found.items()}), reports
    for name, status in case.status.items():
        assert found[name].status == status, reports


@pytest.mark.quick_cases(*QUICK)
@pytest.mark.parametrize("case", cases(*KINDS), ids=lambda case: case.name)
def test_what_a_hostile_submission_shows_holds_no_secret(batch, case):
    graded = batch[0] / "autograded" / case.name / LESSON / f"{LESSON}.ipynb"
    assert told(nbformat.read(graded, as_version=4)) == []


@pytest.mark.quick_cases("break", "forge")
@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_neighbour_is_untouched(batch, kind):
    root = batch[0]
    points, most = Course(root).scores()[f"{kind}-honest", LESSON]
    assert points == most == 20


def test_the_canaries_are_silent(batch):
    _, done, sang, left = batch
    assert done.returncode == 0, done.stderr[-3000:]
    assert sang == []
    assert not left
