"""A course moved to a new version in mid-term: what changes for grades is told before anything is changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grading.cli import main
from grading.coordinator.nbgrader_api import scores

from ..support.course_builder import TINY_LESSONS, build_course

pytestmark = pytest.mark.slow

ONE = TINY_LESSONS[0]


@pytest.fixture
def course_of_three(class_of_three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """At a path of its own: a process imports the graders at one path once, and these change."""
    root = shutil.copytree(class_of_three, tmp_path / "course")
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    return root


@pytest.fixture
def new_version(tmp_path: Path) -> Path:
    return make_new_version(tmp_path / "new")


def make_new_version(root: Path) -> Path:
    """Its first lesson has another text, gives 6 points for what gave 5, and there is a third lesson."""
    new = build_course(root)
    text, contract = new / "source" / f"{ONE}.py", new / "grader_tests" / ONE / "double" / "contract.py"
    text.write_text(
        text.read_text().replace("# # To double", "# # To double, and why").replace('"points": 5', '"points": 6')
    )
    contract.write_text(contract.read_text().replace("points=5", "points=6").replace("points=2", "points=3"))
    contract.write_text(contract.read_text().replace('see="To double"', 'see="To double, and why"'))
    for folder in (new / "source", new / "grader_tests"):
        for path in folder.glob("02_halve*"):
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, path.with_name(path.name.replace("02_halve", "03_halve")))
    return new


def everything(root: Path) -> dict[Path, bytes]:
    inside = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path: path.read_bytes() for path in inside if path.suffix in (".py", ".ipynb")}


def test_what_a_new_version_does_to_grades_is_told_then_done_on_a_word(course_of_three, new_version, capsys):
    course, before = course_of_three, everything(course_of_three)
    assert main.main(["migrate", str(new_version)]) == 0
    told = capsys.readouterr().out
    assert f"changed: {ONE}" in told
    assert "new: 03_halve" in told
    rows = [" ".join(line.split()) for line in told.splitlines()]
    assert any(row.startswith(f"{ONE} ada 5 6 +1 double: 5 of 5, right before, 6 of 6, right now") for row in rows)
    assert "3 grades do not stand as things are now: 1 gain, 0 lose, 2 keep their points." in rows
    assert "Nothing is changed yet" in told
    assert everything(course) == before
    assert scores(course)["ada", ONE] == (5, 5)
    assert not list(course.glob(".migrating-*"))

    assert main.main(["migrate", str(new_version), "--yes"]) == 0
    told = capsys.readouterr().out
    assert "3 grades written" in told
    assert "`grading release 03_halve` releases the new lessons." in told
    assert {student: earned for (student, _), earned in scores(course).items()} == {
        "ada": (6, 6),
        "bob": (0, 6),
        "cem": (3, 6),
    }
    assert "and why" in (course / "release" / ONE / f"{ONE}.ipynb").read_text()
    (kept,) = course.glob("before-migrating-*")
    assert (kept / "source" / f"{ONE}.py").read_bytes() == before[course / "source" / f"{ONE}.py"]
    assert main.main(["history"]) == 0
    assert "double 5 right" in capsys.readouterr().out


@pytest.mark.full("builds another version of the course")
def test_other_exercises_than_what_is_handed_in_are_refused_with_nothing_changed(course_of_three, new_version, capsys):
    text, before = new_version / "source" / f"{ONE}.py", everything(course_of_three)
    text.write_text(text.read_text().replace('"check_double"', '"check_twice"'))
    assert main.main(["migrate", str(new_version), "--yes"]) == 2
    assert f"{ONE} (check_double, check_twice)" in capsys.readouterr().err
    assert everything(course_of_three) == before


def test_what_is_no_other_course_is_told(course_of_three, capsys):
    assert main.main(["migrate", str(course_of_three), "--yes"]) == 2
    assert "is no other course" in capsys.readouterr().err
