"""All verbs take the same selectors: lessons, and students."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from grading.cli import main
from grading.cli.arguments import find_selected
from grading.course import Course
from grading.course_dir.paths import CONFIG
from grading.errors import CourseError, StepFailed

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
def test_without_lessons_all_are_meant(selected, verb):
    assert selected(verb).lessons == [ONE, TWO]
    assert selected(f"{verb} {ONE}").lessons == [ONE]
    assert selected(f"{verb} {TWO} {ONE}").lessons == [ONE, TWO]


@pytest.mark.parametrize("verb", ["extend --days 1", "excuse"])
def test_students_follow_the_lesson_also_after_an_option(selected, verb):
    for arguments in (f"{ONE} ada bob", f"{ONE} --why ill ada bob", f"--why ill {ONE} ada bob"):
        options = selected(f"{verb} {arguments}")
        assert (options.lesson, sorted(options.students)) == (ONE, ["ada", "bob"]), arguments


def test_downloads_follow_the_lesson(selected):
    options = selected(f"feedback-zip {ONE} a.zip b.zip")
    assert (options.lesson, options.downloads) == (ONE, [Path("a.zip"), Path("b.zip")])


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ("excuse", "LESSON, STUDENT"),
        (f"excuse {ONE}", "STUDENT"),
        (f"feedback-zip {ONE}", "DOWNLOAD"),
        ("push canvas --url u --canvas-course 1", "LESSON"),
        ("review", "LESSON"),
    ],
)
def test_a_missing_argument_is_named(selected, capsys, arguments, missing):
    with pytest.raises(SystemExit) as stopped:
        selected(arguments)
    assert stopped.value.code == 2
    assert f"the following arguments are required: {missing}\n" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", ["grade 1_double", "push canvas 1_double --url u --canvas-course 1"])
def test_an_unknown_lesson_gives_an_error_with_a_similar_name(selected, arguments):
    with pytest.raises(CourseError, match=rf"no lesson 1_double; did you mean {ONE}\? The lessons are {ONE}, {TWO}"):
        selected(arguments)


@pytest.mark.parametrize("arguments", ["grade --students", f"excuse {ONE}"])
def test_an_unknown_student_gives_an_error_with_a_similar_name(selected, arguments):
    with pytest.raises(StepFailed, match=r"there is no student adda; did you mean ada\?"):
        selected(f"{arguments} adda")


def test_wrong_use_ends_with_2_and_names_the_help(selected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["fill-gradebook", "export.csv", ONE, TWO, "--column", "Softmax"]) == 2
    assert capsys.readouterr().err == (
        "grading fill-gradebook: --column needs one lesson, got 2: name the lesson. "
        "`grading fill-gradebook --help` lists its arguments.\n"
    )


@pytest.mark.parametrize("arguments", [["nope"], ["nope", "why"]])
def test_review_names_an_unknown_lesson(tmp_path, capsys, arguments):
    (tmp_path / CONFIG).write_text("c = get_config()\n")
    assert main.main(["review", "--course", str(tmp_path), "--no-browser", *arguments]) == 2
    assert "no lesson nope" in capsys.readouterr().err
