"""Nothing is graded if a lesson's release disagrees with its source.

The message names the command that fixes it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from course.check_data import read
from course.harness.serialization import unpack
from grading.authoring.check_data import export_lesson
from grading.cli.main import main
from grading.coordinator.agreement import disagreements
from grading.coordinator.due_dates import due_dates
from grading.coordinator.release import release_lessons
from grading.course import Course

from ..support.course_builder import build_course, submit

LESSON, OTHER = "01_double", "02_halve"
NBGRADER = Path(sys.executable).with_name("nbgrader")
EIGHT = f'timezone = "UTC"\n[[lesson]]\nname = "{LESSON}"\nexercises.double.points = 8\n'


@pytest.fixture
def course(tmp_path: Path, sandboxed: None) -> Path:
    return build_course(tmp_path / "course", release=[LESSON])


@pytest.mark.full
def test_a_released_lesson_agrees(course):
    assert disagreements(Course(course), LESSON) == []


def test_changed_points_are_graded_only_after_a_release(course_of_three, sandboxed, capsys):
    course = course_of_three
    submit(course, OTHER, "ada")
    (course / "course.toml").write_text(EIGHT)
    text = course / "source" / f"{OTHER}.py"
    text.write_text(text.read_text().replace('"points": 5', '"points": 6'))
    for verb in (["grade"], ["grade", "--again"], ["regrade", "--yes"]):
        assert main([*verb, "--course", str(course)]) != 0
        said = capsys.readouterr()
        told = " ".join((said.out + said.err).split())
        assert "double has 8 points in source/01_double.py with course.toml, 5 in the release" in told
        assert "Run `grading release 01_double`, then grade." in told
        assert "halve has 6 points in source/02_halve.py with course.toml, 5 in the release" in told
        assert Course(course).scores()["ada", LESSON] == (5, 5)
    release_lessons(Course(course), [LESSON, OTHER], Console(quiet=True))
    assert main(["grade", "--course", str(course)]) == 0
    assert (Course(course).scores()["ada", LESSON], Course(course).scores()["ada", OTHER]) == ((8, 8), (6, 6))
    assert {(c.student, c.verdict.earned, c.verdict.points) for c in Course(course).verdicts(LESSON)} == {
        ("ada", 8, 8),
        ("bob", 0, 8),
        ("cem", 5, 8),  # 3 of 5 before
    }
    (verdict,) = (cell.verdict for cell in Course(course).verdicts(OTHER))
    assert (verdict.earned, [c.points for c in verdict.criteria]) == (6, [4, 2])  # of 6 as 3 and 2 are of 5


def test_check_data_has_the_points_of_the_text_and_the_shares_of_the_criteria(tmp_path):
    course = build_course(tmp_path / "course")
    text = course / "source" / f"{OTHER}.py"
    text.write_text(text.read_text().replace('"points": 5', '"points": 6'))
    data = export_lesson(course / "grader_tests" / OTHER)
    assert unpack(data[f"{OTHER}.examples"])["exercises"]["halve"]["points"] == 6
    (course / OTHER / "halve.practice").parent.mkdir()
    (course / OTHER / "halve.practice").write_bytes(data[f"{OTHER}/halve.practice"])
    assert [criterion.points for criterion in read(course / OTHER / "halve.practice").criteria] == [3, 2]


def test_an_exercise_without_graders_is_named(course):
    shutil.rmtree(course / "grader_tests" / LESSON / "double")
    assert disagreements(Course(course), LESSON) == [
        "01_double: source/01_double.py has the exercise double, grader_tests/01_double does not. Add it there."
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
    release_lessons(Course(course), [LESSON], Console())
    assert str(due_dates(Course(course))[LESSON]) == "2026-11-20 22:59:00"
    assert "01_double: due 2026-11-20 23:59 CET (course.toml)" in capsys.readouterr().out
