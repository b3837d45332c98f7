"""Nothing is graded if release, source and graders of a lesson disagree.

The message names the command that fixes it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from grading.cli.main import main
from grading.coordinator.agreement import declared_points, disagreements
from grading.coordinator.due_dates import due_dates
from grading.coordinator.nbgrader_api import grades, scores
from grading.coordinator.release import release_lessons
from grading.exercises.lesson import load_lesson

from ..support.course_builder import build_course
from ..support.repository import LESSONS, ROOT

LESSON = "01_double"
NBGRADER = Path(sys.executable).with_name("nbgrader")
EIGHT = f'timezone = "UTC"\n[[lesson]]\nname = "{LESSON}"\nexercises.double.points = 8\n'


@pytest.fixture
def course(tmp_path: Path, sandboxed: None) -> Path:
    """A course with one graded submission, 5 of 5."""
    return build_course(tmp_path / "course", release=[LESSON], submissions={"ada": {}}, grade=True)


@pytest.mark.full
def test_a_released_lesson_agrees(course):
    assert disagreements(course, LESSON) == []


def test_changed_points_are_graded_only_after_a_release(course, capsys):
    (course / "course.toml").write_text(EIGHT)
    for verb in (["grade"], ["grade", "--again"], ["regrade", "--yes"]):
        assert main([*verb, "--course", str(course)]) != 0
        said = capsys.readouterr()
        text = " ".join((said.out + said.err).split())
        assert "double has 8 points in source/01_double.py with course.toml, 5 in the release" in text
        assert "Run `grading release 01_double`, then grade." in text
        assert scores(course)["ada", LESSON] == (5, 5)
    release_lessons(course, [LESSON], Console(quiet=True))
    assert main(["grade", "--course", str(course)]) == 0
    assert scores(course)["ada", LESSON] == (8, 8)
    assert [(c.verdict.earned, c.verdict.points) for c in grades(course, LESSON)] == [(8, 8)]


@pytest.mark.full
def test_graders_with_other_points_than_the_text_are_named(course):
    contract = course / "grader_tests" / LESSON / "double" / "contract.py"
    contract.write_text(contract.read_text().replace("points=5", "points=6"))
    assert disagreements(course, LESSON) == [
        "01_double: double has 5 points in source/01_double.py, 6 in grader_tests/01_double. Make the two the same."
    ]


def test_an_exercise_missing_on_one_side_is_named(course):
    (course / "grader_tests" / LESSON / "__init__.py").write_text('EXERCISES = ("double", "triple")\n')
    assert disagreements(course, LESSON) == [
        "01_double: grader_tests/01_double has the exercise triple, source/01_double.py does not. "
        "Make the two the same."
    ]


@pytest.mark.full
def test_nbgrader_does_not_release_a_notebook_built_from_an_older_text(course):
    (course / "course.toml").write_text(EIGHT)
    release = course / "release" / LESSON / f"{LESSON}.ipynb"
    before = release.read_bytes()
    command = [NBGRADER, "generate_assignment", LESSON, "--force"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True)
    assert done.returncode != 0 and "run `grading release 01_double` to build and release it." in done.stderr
    assert "Traceback" not in done.stderr and release.read_bytes() == before


@pytest.mark.full
def test_a_mistake_in_course_toml_ends_nbgrader_without_a_traceback(course):
    (course / "course.toml").write_text('[publish]\nrepositry = "x"\n')
    done = subprocess.run([NBGRADER, "generate_assignment", LESSON], cwd=course, capture_output=True, text=True)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "course.toml:2: unknown key 'repositry'; did you mean 'repository'?" in done.stderr


def test_due_dates_are_copied_to_the_gradebook(course, capsys):
    (course / "course.toml").write_text(
        f'timezone = "Europe/Berlin"\n[[lesson]]\nname = "{LESSON}"\ndue = 2026-11-20 23:59:00\n'
    )
    release_lessons(course, [LESSON], Console())
    assert str(due_dates(course)[LESSON]) == "2026-11-20 22:59:00"
    assert "01_double: due 2026-11-20 22:59 UTC (course.toml)" in capsys.readouterr().out


@pytest.mark.parametrize("lesson", LESSONS)
def test_points_are_read_from_contracts_without_running_them(lesson):
    tests = ROOT / "grader_tests" / lesson
    assert declared_points(tests) == {e.name: e.points for e in load_lesson(tests).exercises.values()}
