"""What is compared in benchmarks/ is fair, and what is counted is there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from benchmarks import floor, otter, published, suites
from benchmarks.classes import Cost
from benchmarks.hostile import LESSON, points
from benchmarks.stock import make_course
from benchmarks.supervise import roles, succeeded, supervised
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.exercises.lesson import load_lesson

from .support.course_builder import TINY_LESSONS, build_course
from .support.repository import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="benchmarks are run on Linux")


def shell(script: str) -> list[str]:
    return ["python", "-I", "-S", "-c", f"import os, signal, sys, time\n{script}"]


def test_a_command_is_told_by_its_exit_and_what_it_said(tmp_path):
    ran = supervised(shell("print('hello'); sys.exit(3)"), tmp_path, 20)
    assert (ran.code, ran.left, ran.said) == (3, 0, "hello\n")
    with pytest.raises(RuntimeError, match=r"ended with 3 .*\s+hello"):
        succeeded(ran)


def test_a_command_that_is_killed_is_told_by_the_signal(tmp_path):
    assert supervised(shell("os.kill(os.getpid(), signal.SIGTERM)"), tmp_path, 20).code == -15


@pytest.mark.full
def test_a_command_without_end_is_ended_with_all_that_it_started(tmp_path):
    mark = f"left-{tmp_path.name}"
    script = f"os.fork() or os.setsid()\nopen({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}} ')\n"
    ran = supervised(shell(f"mark = {mark!r}\n{script}time.sleep(60)"), tmp_path, 10)
    assert ran.code is None
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert not any(mark in _command(pid) for pid in pids)


@pytest.mark.full
def test_processes_may_end_while_they_are_looked_at():
    with subprocess.Popen(["bash", "-c", "while :; do /bin/true; done"]) as endless:
        try:
            seen = {pid for _ in range(10_000) for pid, _ in roles(endless.pid)}
        finally:
            endless.kill()
    assert len(seen) > 1


@pytest.mark.full
def test_what_outlives_a_command_is_counted_and_ended(tmp_path):
    script = f"os.fork() and os._exit(0)\nos.setsid()\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    ran = supervised(shell(f"mark = {tmp_path.name!r}\n{script}time.sleep(60)"), tmp_path, 20)
    assert (ran.code, ran.left) == (0, 1)
    assert tmp_path.name not in _command((tmp_path / "pid").read_text())


def test_processor_time_of_all_that_a_command_forked_is_counted(tmp_path):
    burn = "def burn(s):\n    until = time.process_time() + s\n    while time.process_time() < until: pass\n"
    in_own_namespace = """
import ctypes
if os.fork() == 0:
    os.setsid()
    if ctypes.CDLL(None).unshare(0x20000000) and os.geteuid():
        os._exit(0)
    first = os.fork()
    if first == 0:  # the first process of a process namespace, where there is a right to make one
        last = os.fork()
        if last == 0:
            burn(0.4)
            os._exit(0)
        os.waitpid(last, 0)
        burn(0.3)
        os._exit(0)
    os.waitpid(first, 0)
    os._exit(0)
"""
    alone = supervised(shell(burn), tmp_path, 60).cpu
    ran = supervised(shell(burn + in_own_namespace + "burn(0.3)"), tmp_path, 60)
    assert ran.code == 0
    assert alone + 1.0 <= ran.cpu + 0.05


def test_memory_is_told_by_role(tmp_path):
    script = "data = bytearray(64 * 2**20)\ntime.sleep(1.5)\n"
    ran = supervised(shell(script), tmp_path, 60, look=True)
    assert ran.most["grader"]["private"] > 64 * 2**20
    assert ran.most["all"]["bytes"] > 64 * 2**20
    assert ran.most["kernel"]["bytes"] == ran.most["judge"]["bytes"] == 0
    assert ran.held


def test_memory_is_bounded_where_that_is_asked(tmp_path):
    script = "bytearray(2 * 2**30)"
    assert supervised(shell(script), tmp_path, 20, 2**30).code == 1
    assert "MemoryError" in supervised(shell(script), tmp_path, 20, 2**30).said


def test_a_command_finds_no_variable_but_those_given(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "1")
    ran = supervised(shell("print(sorted(os.environ))"), tmp_path, 20, variables={"GIVEN": "2"})
    assert "GIVEN" in ran.said
    assert "SECRET_OF_MINE" not in ran.said


def test_each_further_submission_is_without_what_starting_costs():
    costs = [Cost("grading grade", 1, 1, 9.0, 5.0), Cost("grading grade", 11, 1, 20.0, 15.0, [1.0] * 10)]
    costs += [Cost("nbgrader alone", 1, 1, 9.0, 3.0), Cost("nbgrader alone", 5, 1, 90.0, 83.0, [20.0] * 4)]
    results = published.Results("02_softmax", costs, {}, 0.0)
    assert dict(results.bars()) == {"grading grade": 1.0, "nbgrader alone": 20.0}
    found = {target.what: target for target in results.targets()}
    assert found["CPU of nbgrader alone, to ours"].measured == 20.0
    assert found["CPU of nbgrader alone, to ours"].row().endswith("| yes |")
    assert found["CPU of Otter-Grader, to ours"].measured is None
    assert "not measured" in found["two workers, to one"].row()


def test_two_workers_are_told_beside_what_the_second_core_gives_to_anything():
    costs = [Cost("grading grade", 1, 1, 9.0, 5.0), Cost("grading grade", 11, 1, 20.0, 15.0, [1.0] * 10)]
    results = published.Results("02_softmax", costs, {}, 0.0, [(1.9, 2.0), (1.2, 1.3), (1.7, 1.6)])
    (row,) = (target.row() for target in results.targets() if target.what.startswith("two workers"))
    assert row.endswith("(1.60 × are two processes of the cells and calls alone) | at least 1.85 × | 1.70 × | no |")
    assert "1.90 (2.00), 1.20 (1.30), 1.70 (1.60)" in results.page()


def test_what_was_measured_is_put_between_its_marks_and_nowhere_else(tmp_path):
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "performance.md"
    page.write_text("Before.\n\n<!-- measured: term -->\n\nold\n\n<!-- end of: term -->\n\nAfter.\n")
    published.put(tmp_path, "term", "new")
    assert page.read_text() == "Before.\n\n<!-- measured: term -->\n\nnew\n\n<!-- end of: term -->\n\nAfter.\n"
    with pytest.raises(ValueError, match=r"performance\.md has no <!-- measured: classes -->"):
        published.put(tmp_path, "classes", "new")


@pytest.mark.full("measures a whole grading run")
def test_the_memory_of_judges_and_kernels_is_told_apart(tmp_path):
    lesson = TINY_LESSONS[0]
    slow = "import time\nheld = bytearray(48 * 2**20)\ntime.sleep(3)\ndef double(x):\n    return 2 * x"
    root = build_course(tmp_path / "course", release=[lesson], submissions={"ada": {"double": slow}})
    command = ["grading", "grade", "--again", lesson]
    runs = [succeeded(supervised(command, root, 300, look=True)).most for _ in range(2)]
    for most in runs:
        assert most["kernel"]["private"] > 48 * 2**20
        assert most["judge"]["bytes"] > 0 < most["grader"]["bytes"]
        assert most["all"]["bytes"] > most["kernel"]["private"] + most["grader"]["private"]
    # The most of a run is that of its worst moment; a judge that held the kernel's bytes would hold them in both
    assert min(most["judge"]["private"] for most in runs) < 48 * 2**20


def test_the_floor_is_the_cells_and_calls_of_each_submission(released_course):
    root = released_course(LESSON)
    notebook = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    answers = correct_answers(load_lesson(ROOT / "grader_tests" / LESSON), 0)
    busy = "import time\nuntil = time.process_time() + 1\nwhile time.process_time() < until: pass\n"
    for student, first in {"floor-1": "", "floor-2": "", "floor-3": busy}.items():
        hand_in(root, LESSON, student, write_answers(notebook, answers | {"softmax": first + answers["softmax"]}))
    try:
        ordinary, slow = floor.costs(root, LESSON, "floor-*")
    finally:
        for student in ("floor-1", "floor-2", "floor-3"):
            shutil.rmtree(root / "submitted" / student)
    assert 0 < ordinary[0] < slow[0]
    assert min(slow) > 1


def test_otter_gives_right_answers_their_points_and_wrong_ones_none(released_course, tmp_path):
    command = otter.PLACE / "bin" / "otter"
    if not command.exists():
        pytest.skip("Otter-Grader is not installed: `python -m benchmarks classes` does so")
    notebook = nbformat.read(released_course(LESSON) / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    lesson = load_lesson(ROOT / "grader_tests" / LESSON)
    wrong = {name: e.mistakes[0].cell for name, e in lesson.exercises.items()}
    otter.make_autograder(tmp_path / "autograder.zip", LESSON)
    found = []
    for name, answers in {"right": correct_answers(lesson, 1), "wrong": wrong}.items():
        file = tmp_path / f"{name}.ipynb"
        nbformat.write(write_answers(notebook, answers), file)
        succeeded(supervised([str(command), "run", str(file), "-a", "autograder.zip", "-o", "."], tmp_path, 300))
        found.append(sum(otter.points(tmp_path / "results.json").values()))
    assert found == [otter.most(LESSON), 0]


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.full("measures a whole grading run")
def test_nbgrader_alone_gives_right_answers_their_points_and_wrong_ones_none(released_course, tmp_path):
    ours, stock = released_course(LESSON), tmp_path / "stock"
    make_course(stock, ours, LESSON, demos=False)
    succeeded(supervised(["nbgrader", "generate_assignment", LESSON], stock, 120))
    release = nbformat.read(stock / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    lesson = load_lesson(ROOT / "grader_tests" / LESSON)
    wrong = {name: e.mistakes[0].cell for name, e in lesson.exercises.items()}
    for student, answers in {
        "ada": correct_answers(lesson, 0),
        "bob": correct_answers(lesson, 1),
        "cem": wrong,
    }.items():
        hand_in(stock, LESSON, student, write_answers(release, answers))
    succeeded(supervised(["nbgrader", "autograde", LESSON], stock, 240))
    full = {name: (float(e.points), float(e.points)) for name, e in lesson.exercises.items()}
    assert points(stock, "ada") == points(stock, "bob") == full
    assert {got for got, _ in points(stock, "cem").values()} == {0}


SUITE = """
TASK = {
    "function_name": "my_softmax",
    "tests": [
        {"name": "rows", "code": "import torch\\nassert {fn}(torch.randn(3, 4)).sum(-1).allclose(torch.ones(3))"},
    ],
}
"""


def test_known_answers_are_tried_on_a_public_suite_and_counted(tmp_path):
    """A suite that asks for rows which sum to 1, and for nothing else."""
    tasks = tmp_path / "torch_judge" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "softmax.py").write_text(SUITE)
    softmax = next(task for task in suites.TORCHCODE if task.exercise == "softmax")
    exercise = load_lesson(ROOT / "grader_tests" / softmax.lesson).exercises["softmax"]
    found = suites.count(tmp_path, softmax, suites.torchcode)
    assert found.right_passed == found.right == len(exercise.alternatives)
    assert found.wrong == len(exercise.mistakes)
    assert 0 < found.plain_passed < found.plain < found.wrong
    passed = {m.name: suites.torchcode(tmp_path, softmax, m.load()) for m in exercise.mistakes}
    assert not passed["returns_the_exponentials"]
    assert passed["turns_the_order_upside_down"]


@pytest.mark.parametrize("suite", suites.SUITES)
def test_a_folder_that_is_no_clone_is_told(tmp_path, suite):
    tasks, passes = suites.SUITES[suite]
    with pytest.raises(FileNotFoundError, match="is it a clone of"):
        passes(tmp_path, tasks[0], lambda x: x)
