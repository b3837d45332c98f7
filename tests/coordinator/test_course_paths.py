"""A course in a folder whose name has characters with a meaning in patterns, addresses and shells."""

from __future__ import annotations

import pytest
from rich.console import Console

from grading.cli import main
from grading.coordinator.converters import autograde, generate_feedback
from grading.coordinator.write_feedback import write_feedback
from grading.course import Course

from ..support.course_builder import TINY_LESSONS, build_and_release, build_course, grade_lesson, submit

ONE, _ = TINY_LESSONS
EVERY = "C++ (1) 50% #2 $x ^a|b] {c} 'd' & \"e\"; \\f:g@h ~i"
NAMES = {"all": EVERY} | {name: name for name in ("course (1)", "C++ autumn", "50% #2 $x", "a^b", "a|b", "-x", "~x")}


@pytest.mark.quick_cases("all")
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_every_step_works_there(tmp_path, monkeypatch, sandboxed, name):
    root = tmp_path / name
    monkeypatch.chdir(tmp_path)
    lessons = str(build_course(tmp_path / "old"))
    assert main.main(["init", f"./{name}", "--lessons", lessons, "--exchange", ""]) == 0
    build_and_release(root, ONE)
    submit(root, ONE, "ada")
    grade_lesson(root, ONE)
    assert Course(root).scores() == {("ada", ONE): (5, 5)}
    assert not write_feedback(Course(root), [ONE], Console(quiet=True))
    assert autograde(Course(root), ONE, "ada", again=True)
    generate_feedback(Course(root), ONE, "ada")


@pytest.mark.parametrize("name", ["week [1]", "what?", "a*b"])
def test_a_folder_that_nbgrader_takes_for_a_pattern_is_refused(tmp_path, capsys, name):
    assert main.main(["init", str(tmp_path / name / "course"), "--exchange", ""]) == 2
    assert "no course can be in" in capsys.readouterr().err
    assert not (tmp_path / name).exists()
    moved = build_course(tmp_path / "course").rename(tmp_path / name)
    assert main.main(["grade", "--course", str(moved)]) == 2
    assert "Rename the folder" in capsys.readouterr().err
