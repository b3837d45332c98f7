"""Grades made with an earlier version stay up to date until the teacher changes something that they are made of.

tests/data/course-0.1.0.zip is a course that was begun, released and graded with the wheels of version 0.1.0.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grading.coordinator.nbgrader_api import stale_reasons
from grading.coordinator.record_grade_inputs import record_grade_inputs
from grading.gradebook import equivalent_inputs
from grading.gradebook.equivalent_inputs import FILE, record_value, same_grade

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import LESSONS, ROOT

GRADED = [(lesson, student) for lesson in ("02_softmax", "05_causal_mask", "08_training") for student in ("ada", "ben")]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    shutil.unpack_archive(ROOT / "tests" / "data" / "course-0.1.0.zip", tmp_path)
    return tmp_path / "course-0.1.0"


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(("lesson", "student"), GRADED)
def test_a_grade_made_with_version_0_1_0_is_up_to_date(course, lesson, student):
    assert stale_reasons(course, lesson, student) == []


def test_a_lesson_of_ones_own_is_up_to_date_as_long_as_its_files_are_the_same(course, tmp_path, monkeypatch):
    (tmp_path / "same.json").write_text(json.dumps({"version": json.loads(FILE.read_text())["version"]}))
    monkeypatch.setattr(equivalent_inputs, "FILE", tmp_path / "same.json")
    assert stale_reasons(course, "02_softmax", "ada") == []
    rewrite(course / "grader_tests" / "02_softmax" / "softmax" / "contract.py", "points=", "points=1 + ")
    assert stale_reasons(course, "02_softmax", "ada") == ["the graders changed"]


def test_a_comment_in_its_graders_leaves_a_grade_as_it_is_and_a_constant_does_not(course):
    contract = course / "grader_tests" / "02_softmax" / "softmax" / "contract.py"
    rewrite(contract, "import torch\n", "import torch  # as everywhere\n")
    assert stale_reasons(course, "02_softmax", "ada") == []
    rewrite(contract, "points=", "points=1 + ")
    assert stale_reasons(course, "02_softmax", "ada") == ["the graders changed"]
    assert stale_reasons(course, "05_causal_mask", "ada") == []


def test_a_constant_that_lessons_share_makes_those_stale_that_import_it(course):
    tests = course / "grader_tests"
    users = {path.parents[1].name for path in tests.glob("*/*/*.py") if "shared.repeating import" in path.read_text()}
    rewrite(tests / "shared" / "repeating.py", "\n\n\ndef ", "\n\nMORE = 1\n\n\ndef ")
    assert {lesson for lesson, student in GRADED if stale_reasons(course, lesson, student)} == users
    assert users == {"02_softmax"}


def test_another_release_makes_a_grade_stale(course):
    released = course / "release" / "02_softmax" / "02_softmax.ipynb"
    notebook = json.loads(released.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += "\n\nMore to read."
    released.write_text(json.dumps(notebook), encoding="utf-8")
    assert stale_reasons(course, "02_softmax", "ada") == ["the released lesson changed"]


def test_the_late_policy_is_the_same_under_its_name_of_version_0_1_0():
    def late(module: str, settings: object = None) -> str:
        return str(("2026-01-01", None, [(module, "LatePolicy", settings), ("nbgrader.plugins", "BasePlugin", None)]))

    old, now = (f"grading.nbgrader_plugins.{name}" for name in ("late", "late_policy"))
    assert same_grade("late", late(old), late(now))
    assert not same_grade("late", late(old), late(now, {"policy": "zero"}))
    assert not same_grade("late", late("their_own.late"), late(now))


def test_every_lesson_of_version_0_1_0_has_its_values():
    known = json.loads(FILE.read_text(encoding="utf-8"))
    of_that_version = {lesson for lesson in LESSONS if lesson < "13"}
    assert known["graders"].keys() == known["release"].keys() == of_that_version
    assert all(len(groups[0]) >= 2 for groups in known["graders"].values())  # hashed by bytes, and by meaning


def test_values_mean_the_same_grade_until_a_release_changes_one(tmp_path):
    file = tmp_path / "same.json"
    for value, changed in (("a", False), ("b", False), ("b", False), ("c", True), ("d", False)):
        record_value("graders", TINY_LESSONS[0], value, changed=changed, file=file)
    assert json.loads(file.read_text()) == {"graders": {TINY_LESSONS[0]: [["a", "b"], ["c", "d"]]}}


def test_a_release_records_what_grades_of_its_lessons_are_made_of(tmp_path):
    root, file = build_course(tmp_path / "course"), tmp_path / "same.json"
    record_grade_inputs(root, file=file)
    before = json.loads(file.read_text())
    assert before.keys() == {"graders", "release"}
    assert all(list(lessons) == TINY_LESSONS for lessons in before.values())
    for lesson, exercise in zip(TINY_LESSONS, ("double", "halve"), strict=True):
        rewrite(root / "grader_tests" / lesson / exercise / "contract.py", "points=2", "points=2.0")
    record_grade_inputs(root, [TINY_LESSONS[1]], file)
    now = json.loads(file.read_text())
    assert now["release"] == before["release"]
    assert [len(group) for group in now["graders"][TINY_LESSONS[0]]] == [2]
    assert [len(group) for group in now["graders"][TINY_LESSONS[1]]] == [1, 1]
