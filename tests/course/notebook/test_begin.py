"""What `begin` gives a learner, and what importing the course brings."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from course.notebook import catalog
from course.notebook.catalog import lessons
from grading.exercises.lesson import load_lesson

from ...support.learner import BEGIN, RIGHT, ROOT


def test_begin_gives_every_exercise_a_placeholder_and_leaves_what_is_there(learner):
    learner.run("def entropy(p, dim=-1): return 7\nbegin('02_softmax')")
    assert learner.names["entropy"](None) == 7
    for name in ("softmax", "log_softmax", "softmax_with_temperature"):
        with pytest.raises(NotImplementedError, match=f"{name} is not written yet"):
            learner.names[name](torch.zeros(3))


def test_begin_leaves_torch_on_one_thread_unless_told_otherwise(learner, monkeypatch):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        learner.run("begin('02_softmax')")
        assert torch.get_num_threads() == 2
        monkeypatch.delenv("OMP_NUM_THREADS")
        learner.run("begin('02_softmax')")
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.full
def test_a_check_leaves_no_value_below_its_report_but_where_nbgrader_reads_it(kernel):
    assert kernel.run(f"{RIGHT}\ncheck(softmax)").value is None
    kernel.run("import os; os.environ['NBGRADER_EXECUTION'] = 'validate'")
    try:
        assert kernel.run("check(softmax)").value == "7.0"
    finally:
        kernel.run("del os.environ['NBGRADER_EXECUTION']")


def test_begin_names_the_lessons_that_there_are(learner):
    with pytest.raises(ValueError, match=r"'03_softmax'.*01_dot_products, 02_softmax"):
        learner.run("begin('03_softmax')")


def test_every_lesson_begins_and_its_exercises_are_those_of_the_grader(learner):
    for lesson in lessons():
        learner.run(f"begin({lesson!r})")
        exercises = load_lesson(ROOT / "grader_tests" / lesson).exercises
        assert list(catalog.exercises_of(lesson)) == list(exercises)
        assert set(exercises) <= set(learner.names)
        assert sum(e.points for e in exercises.values()) == 20


def test_missing_examples_are_told_of(learner, monkeypatch, tmp_path):
    learner.run(RIGHT)
    monkeypatch.setattr(catalog, "EXAMPLES", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing from .*install the course again"):
        learner.run("begin('02_softmax')")
    assert "install the course again" in learner.run("points = check(softmax)")
    assert float(learner.names["points"]) == 0.0
    assert "install the course again" in learner.run("hint(softmax)")


def test_damaged_examples_are_told_of(learner, monkeypatch, tmp_path):
    path = tmp_path / "02_softmax.examples"
    path.write_bytes((catalog.EXAMPLES / path.name).read_bytes()[:-100])
    monkeypatch.setattr(catalog, "EXAMPLES", tmp_path)
    with pytest.raises(ValueError, match=r"02_softmax\.examples cannot be read .*install the course again"):
        learner.run("begin('02_softmax')")


def test_importing_course_brings_little_beyond_torch_and_later_matplotlib():
    steps = ("torch, safetensors.torch", "course", "matplotlib.pyplot", "course.figures, course.widgets.sliders")
    code = "import sys\n" + "\n".join(f"import {step}\nprint(*sys.modules)" for step in steps)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    stages = [{name.split(".")[0] for name in line.split()} for line in done.stdout.splitlines()]
    needed, course, plain, drawing = stages
    ours = {"course", *sys.stdlib_module_names}
    assert course - needed <= ours, "figures and widgets wait until they are asked for"
    assert drawing - plain <= ours, "widgets wait until there is a kernel"


@pytest.mark.full
def test_the_first_cell_of_a_notebook_sees_to_it_that_no_check_waits_for_imports_and_once_only():
    code = """
import gc, sys
from IPython.core.interactiveshell import InteractiveShell
from course import begin
begin("02_softmax") if "script" in sys.argv else InteractiveShell.instance() and begin("02_softmax")
found = gc.get_freeze_count()
later = [[] for _ in range(1000)]
begin("02_softmax")
print("torch._dynamo" in sys.modules, found > 100_000, gc.get_freeze_count() <= found)
"""
    for where, told in (("notebook", "True True True"), ("script", "False False True")):
        done = subprocess.run([sys.executable, "-c", code, where], capture_output=True, text=True, check=True, cwd="/")
        assert done.stdout.splitlines()[-1] == told


def test_a_plain_process_gets_the_report_as_text():
    code = f"{BEGIN}{RIGHT}\nprint(check(softmax))\nprogress()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.startswith("☑ softmax: 7 of 7 points. ")
    assert "\n7.0\n◐ 02_softmax: 7 of 20 points\n" in done.stdout
    assert done.stderr == ""
