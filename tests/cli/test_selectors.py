"""All verbs take the same selectors: lessons and students, by position or option."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from grading.cli import main
from grading.cli.arguments import find_selected
from grading.course import Course
from grading.course_dir.paths import CONFIG
from grading.errors import CourseError, StepFailed, UsageError

ONE, TWO = "01_double", "02_halve"
Selected = Callable[..., argparse.Namespace]


@pytest.fixture
def selected(tmp_path: Path) -> Selected:
    """selected(arguments): a verb's options after lookup, in a small course."""
    (tmp_path / CONFIG).write_text("c = get_config()\n")
    (tmp_path / "source").mkdir()
    for lesson in (ONE, TWO):
        (tmp_path / "source" / f"{lesson}.py").write_text("")
    for student in ("ada", "bob"):
        (tmp_path / "submitted" / student / ONE).mkdir(parents=True)

    def select(text: str) -> argparse.Namespace:
        options = main.make_parser().parse_args(text.split())
        options.root, options.course = tmp_path, Course(tmp_path)
        find_selected(options)
        return options

    return select


MANY = ["grade", "regrade", "verify-grades", "history", "feedback", "release", "build", "prove"]


@pytest.mark.parametrize("verb", MANY)
def test_lessons_are_named_by_position_by_option_and_both(selected, verb):
    assert selected(verb).lessons == [ONE, TWO]
    for arguments in (ONE, f"--lesson {ONE}"):
        assert selected(f"{verb} {arguments}").lessons == [ONE]
    for arguments in (f"{ONE} {TWO}", f"--lesson {ONE} {TWO}", f"{TWO} --lesson {ONE}"):
        assert selected(f"{verb} {arguments}").lessons == [ONE, TWO]


@pytest.mark.parametrize("verb", ["extend --days 1", "excuse"])
def test_a_lesson_and_its_students_are_named_by_position_by_option_and_mixed(selected, verb):
    for arguments in (
        f"{ONE} ada bob",
        f"{ONE} --why ill ada bob",
        f"ada bob --lesson {ONE}",
        f"{ONE} --students ada bob",
        f"--lesson {ONE} --students ada bob",
        f"--students bob --lesson {ONE} -- ada",
    ):
        options = selected(f"{verb} {arguments}")
        assert (options.lesson, sorted(options.students)) == (ONE, ["ada", "bob"]), arguments


@pytest.mark.parametrize(
    "arguments", [f"{ONE} a.zip b.zip", f"a.zip b.zip --lesson {ONE}", f"--lesson {ONE} -- a.zip b.zip"]
)
def test_downloads_follow_the_lesson_or_its_option(selected, arguments):
    options = selected(f"feedback-zip {arguments}")
    assert (options.lesson, options.downloads) == (ONE, ["a.zip", "b.zip"])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("excuse", "no lesson given"),
        (f"excuse {ONE}", "no students given"),
        (f"feedback-zip {ONE}", "no downloads given"),
        (f"push canvas {ONE} --lesson {TWO} --url u --canvas-course 1", f"expected one lesson, got {ONE} and {TWO}"),
    ],
)
def test_a_missing_argument_is_named(selected, arguments, why):
    with pytest.raises(UsageError, match=why):
        selected(arguments)


@pytest.mark.parametrize(
    "arguments", ["grade 1_double", "grade --lesson 1_double", "push canvas 1_double --url u --canvas-course 1"]
)
def test_an_unknown_lesson_gives_an_error_with_a_similar_name(selected, arguments):
    with pytest.raises(CourseError, match=rf"no lesson 1_double; did you mean {ONE}\? The lessons are {ONE}, {TWO}"):
        selected(arguments)


@pytest.mark.parametrize("arguments", ["grade --students", f"excuse {ONE}", f"excuse --lesson {ONE} --students"])
def test_an_unknown_student_gives_an_error_with_a_similar_name(selected, arguments):
    with pytest.raises(StepFailed, match=r"there is no student adda; did you mean ada\?"):
        selected(f"{arguments} adda")


def test_wrong_use_ends_with_2_and_names_the_help(selected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["excuse", ONE]) == 2
    assert (
        capsys.readouterr().err == "grading excuse: no students given. `grading excuse --help` lists its arguments.\n"
    )


@pytest.mark.parametrize("arguments", [["nope"], ["--lesson", "nope"], ["--lesson", "nope", "why"]])
def test_review_takes_its_lesson_by_position_and_by_option(tmp_path, capsys, arguments):
    (tmp_path / CONFIG).write_text("c = get_config()\n")
    assert main.main(["review", "--course", str(tmp_path), "--no-browser", *arguments]) == 2
    assert "no lesson nope" in capsys.readouterr().err
    assert main.main(["review", "--course", str(tmp_path)]) == 2
    assert "no lesson given: add LESSON or --lesson LESSON" in capsys.readouterr().err
