"""What is compared in benchmarks/ is fair, and what is counted is there."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest

from benchmarks import training_margins
from benchmarks.hostile import LESSON, points
from benchmarks.stock import make_course
from benchmarks.supervise import succeeded, supervised
from grading.judge.lesson import load_lesson
from grading.sample import hand_in, right, write_answers

from .conftest import ROOT

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


def test_a_command_without_end_is_ended_with_all_that_it_started(tmp_path):
    mark = f"left-{tmp_path.name}"
    script = f"os.fork() or os.setsid()\nopen({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}} ')\n"
    ran = supervised(shell(f"mark = {mark!r}\n{script}time.sleep(60)"), tmp_path, 1)
    assert ran.code is None
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert not any(mark in _command(pid) for pid in pids)


def test_what_outlives_a_command_is_counted_and_ended(tmp_path):
    script = f"os.fork() and os._exit(0)\nos.setsid()\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    ran = supervised(shell(f"mark = {tmp_path.name!r}\n{script}time.sleep(60)"), tmp_path, 20)
    assert (ran.code, ran.left) == (0, 1)
    assert tmp_path.name not in _command((tmp_path / "pid").read_text())


def test_memory_is_bounded_where_that_is_asked(tmp_path):
    script = "bytearray(2 * 2**30)"
    assert supervised(shell(script), tmp_path, 20, 2**30).code == 1
    assert "MemoryError" in supervised(shell(script), tmp_path, 20, 2**30).said


def test_a_command_finds_no_variable_but_those_given(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "1")
    ran = supervised(shell("print(sorted(os.environ))"), tmp_path, 20, variables={"GIVEN": "2"})
    assert "GIVEN" in ran.said
    assert "SECRET_OF_MINE" not in ran.said


def test_the_threshold_for_training_parts_right_loops_from_known_bugs(capsys):
    right, wrong = training_margins.main(["--seeds", "2"])
    measured = [line.split()[-1] for line in capsys.readouterr().out.splitlines() if line.endswith("/2")]
    n_right, n_wrong = measured.count("2/2"), measured.count("0/2")
    assert n_right >= 7 and n_wrong >= 10 and n_right + n_wrong == len(measured)
    assert right.startswith(f"right loops  {2 * n_right} of {2 * n_right} runs pass")
    assert wrong.startswith(f"known bugs   0 of {2 * n_wrong} runs pass")


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.slow
def test_nbgrader_alone_gives_right_answers_their_points_and_wrong_ones_none(classroom, tmp_path):
    ours, stock = classroom(LESSON), tmp_path / "stock"
    make_course(stock, ours, LESSON, demos=False)
    succeeded(supervised(["nbgrader", "generate_assignment", LESSON], stock, 120))
    release = nbformat.read(stock / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    lesson = load_lesson(ROOT / "grader_tests" / LESSON)
    wrong = {name: e.mistakes[0].cell for name, e in lesson.exercises.items()}
    for student, answers in {"ada": right(lesson, 0), "bob": right(lesson, 1), "cem": wrong}.items():
        hand_in(stock, LESSON, student, write_answers(release, answers))
    succeeded(supervised(["nbgrader", "autograde", LESSON], stock, 240))
    full = {name: (float(e.points), float(e.points)) for name, e in lesson.exercises.items()}
    assert points(stock, "ada") == points(stock, "bob") == full
    assert {got for got, _ in points(stock, "cem").values()} == {0}
