"""Which file of a folder counts: one answer from `watch`, `grade`, `nbgrader autograde`, `collect` and `grade-file`."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from grading.coordinator.converters import autograde
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.plugins.hub.watch import Watch
from grading.plugins.lms.collect import collect
from grading.plugins.platforms.grade_file import grade_file

from ...support import class_fixtures
from ...support.class_helpers import RecordingConsole
from ...support.course_builder import TINY_LESSONS, solved_notebook
from ...support.exchange import Exchange

course = class_fixtures.course  # a class, not the two exercises of this folder

ONE, _ = TINY_LESSONS
NAME = f"{ONE}.ipynb"


def folders(root: Path) -> dict[str, dict[str, str]]:
    """Folders that students hand in, by student. In each, the only right notebook counts."""
    released = (root / "release" / ONE / NAME).read_text()
    right = nbformat.writes(solved_notebook(root, ONE))
    wrong = nbformat.writes(solved_notebook(root, ONE, double="def double(x):\n    return x * x"))
    return {
        "copy": {f"{ONE}-Copy1.ipynb": right},
        "download": {NAME: released, f"{ONE} (1).ipynb": right},
        "fresh": {NAME: right, f"{ONE}-Copy1.ipynb": released},
        "colab": {NAME: wrong, f"Copy of {NAME}": right},
        "named": {"homework.ipynb": right},
        "below": {f"work/{NAME}": right, "data.txt": "1"},
    }


NO_FILE_COUNTS = {
    "unclear": ({f"{ONE}-1.ipynb": "{}", f"{ONE} (1).ipynb": "[]"}, "It is not clear which file counts"),
    "two others": ({"homework.ipynb": "{}", "notes.ipynb": "[]"}, "It is not clear which file counts"),
    "another lesson": ({"02_halves.ipynb": "{}"}, f"No {NAME} was handed in"),
}


def test_all_commands_take_the_same_file(course, tmp_path, sandboxed):
    exchange = Exchange(course, tmp_path / "hub").open([ONE])
    given = folders(course)
    for student, files in given.items():
        exchange.submit_files(student, ONE, files)
    assert Watch(course, every=0.1).run(once=True)
    assert Course(course).scores() == {(student, ONE): (5, 5) for student in given}
    for student, files in given.items():
        for page in exchange.fetched(student, ONE):
            assert "<b>5</b> of 5 points" in page
        names = [Path(name).stem for name in files if name.count("/") == 0 and name.endswith(".ipynb")]
        fetched = exchange.place / student / ONE / "feedback"
        assert sorted(page.stem for page in fetched.glob("*/*.html")) == sorted(names)
    assert "`01_double-Copy1.ipynb` was graded. If another file counts" in exchange.fetched("copy", ONE)[0]

    assert Watch(course, every=0.1).run(once=True)  # as before
    assert not list((course / "hand-ins" / "replaced").glob("*/*/*"))

    for student in given:
        handed_in = exchange.place / student / ONE
        shutil.rmtree(handed_in / "feedback", ignore_errors=True)
        for step in ("submitted", "autograded", "hand-ins"):
            shutil.rmtree(course / step, ignore_errors=True)
    by_hand = course / "submitted"
    for student in given:
        shutil.copytree(exchange.place / student / ONE, by_hand / student / ONE)
    assert autograde(Course(course), ONE, "download", again=True)
    assert not grade_class(Course(course), [ONE], RecordingConsole(), again=True).failed
    assert Course(course).scores() == {(student, ONE): (5, 5) for student in given}
    assert grade_file(Course(course), exchange.place / "download" / ONE, ONE).earned == 5
    replaced = course / "hand-ins" / "replaced" / "download" / ONE
    assert [path.read_text() for path in replaced.glob(f"*/{NAME}")] == [given["download"][NAME]]


@pytest.mark.quick_cases("download", "fresh")
@pytest.mark.parametrize("student", ["copy", "download", "fresh", "colab"])
def test_collect_takes_that_file_too(course, tmp_path, student):
    files = folders(course)[student]
    for name, text in files.items():
        file = tmp_path / "gathered" / student / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (outcome,) = collect(Course(course), [tmp_path / "gathered"], ONE, RecordingConsole())
    taken = course / "submitted" / outcome.student / ONE / NAME
    assert taken.read_text() == folders(course)["named"]["homework.ipynb"]


@pytest.mark.quick_cases("unclear")
@pytest.mark.parametrize("case", NO_FILE_COUNTS)
def test_where_no_file_counts_the_student_gets_a_page_that_asks_and_the_others_are_graded(
    course, tmp_path, sandboxed, case
):
    exchange = Exchange(course, tmp_path / "hub").open([ONE])
    files, why = NO_FILE_COUNTS[case]
    exchange.submit_files("ada", ONE, files)
    exchange.submit("bob", ONE, solved_notebook(course, ONE))
    assert not Watch(course, every=0.1).run(once=True)
    assert Course(course).scores() == {("bob", ONE): (5, 5)}
    pages = exchange.fetched("ada", ONE)
    assert pages and all(f"{why}" in page and f"Hand in {NAME}" in page.replace("one file, ", "") for page in pages)
    assert why in grade_file(Course(course), exchange.place / "ada" / ONE, ONE).unreadable

    shutil.rmtree(exchange.place / "ada" / ONE)
    exchange.submit("ada", ONE, solved_notebook(course, ONE))  # as the page says
    assert Watch(course, every=0.1).run(once=True)
    assert Course(course).scores()["ada", ONE] == (5, 5)
