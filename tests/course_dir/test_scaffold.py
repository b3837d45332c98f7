"""A course without a checkout, from `grading init` to a graded new lesson."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from grading.authoring.lesson_text import FOLDED, read_lesson
from grading.cli import main
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.course import Course
from grading.course_dir.course_file import load_course_file
from grading.course_dir.scaffold import init_course, new_lesson
from grading.course_dir.seeds import FILE
from grading.errors import CourseError, ExerciseError
from grading.exercises.lesson import load_lesson

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.html_pages import Elements
from ..support.repository import ROOT

MINE = "09_means"
LEARNS = """
import torch
import course
course.begin("09_means")
def mean(x):
    return x.sum(-1)
course.check(mean)
def mean(x):
    return x.sum(-1) / x.shape[-1]
print("all:", float(course.check(mean)))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with only a new lesson, proved and released."""
    root = tmp_path_factory.mktemp("term") / "autumn"
    init_course(root)
    new_lesson(root, MINE)
    assert main.main(["release", "--course", str(root)]) == 0
    return root


def test_a_course_begins_with_settings_a_secret_and_nothing_to_share_by_mistake(tmp_path):
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    told = init_course(tmp_path / "autumn 2026", exchange=str(exchange))
    root = tmp_path / "autumn 2026"
    settings = (root / "nbgrader_config.py").read_text()
    assert settings.startswith((ROOT / "nbgrader_config.py").read_text())
    assert load_course_file(root).id == "autumn-2026"
    assert f"c.Exchange.root = {str(exchange)!r}" in settings
    assert (root / FILE).stat().st_mode & 0o077 == 0
    assert f"{FILE}*" in (root / ".gitignore").read_text().splitlines()
    assert any("exchange" in line for line in told)


def test_lessons_are_copied_from_a_course_or_a_zip_of_one(tmp_path):
    other = build_course(tmp_path / "attention-1.0")
    zipped = shutil.make_archive(str(tmp_path / "v1.0"), "zip", tmp_path, "attention-1.0")
    for number, place in enumerate((other, Path(zipped))):
        root = tmp_path / f"term-{number}"
        assert "2 lessons copied" in " ".join(init_course(root, place))
        assert sorted(path.stem for path in (root / "source").glob("*.py")) == TINY_LESSONS
        assert load_lesson(root / "grader_tests" / TINY_LESSONS[0]).exercises["double"].points == 5


def test_nothing_is_overwritten_and_a_folder_without_lessons_is_refused(tmp_path):
    root = build_course(tmp_path / "course")
    before = (root / "nbgrader_config.py").read_bytes()
    with pytest.raises(CourseError, match="is already a course"):
        init_course(root)
    assert (root / "nbgrader_config.py").read_bytes() == before
    with pytest.raises(CourseError, match="nothing was made"):
        init_course(tmp_path / "term", exchange=str(tmp_path / "nowhere"))
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    for nothing in (tmp_path, empty):
        with pytest.raises(CourseError, match="has no lessons"):
            init_course(tmp_path / "term", nothing)
    assert not (tmp_path / "term").exists()
    with pytest.raises(CourseError, match="already exists"):
        new_lesson(root, TINY_LESSONS[0])
    for name in ("double", "9_x", "09_X", "../09_x"):
        with pytest.raises(CourseError, match="expected a name of two digits"):
            new_lesson(root, name)


@pytest.mark.full
def test_a_new_lesson_is_released_with_its_examples_and_check_uses_them(course):
    released = course / "release" / MINE
    files = {f"{MINE}.{ending}" for ending in ("ipynb", "examples", "predictions", "stubs", "given")}
    assert {path.name for path in released.iterdir()} == {*files, "outline.json", MINE}
    done = subprocess.run([sys.executable, "-c", LEARNS], cwd=released, capture_output=True, text=True, check=True)
    assert "You return the sum instead of the mean." in done.stdout
    assert "all: 20.0" in done.stdout


def told_around(cells: list[nbformat.NotebookNode], name: str) -> set[str]:
    """The texts around an exercise: at its heading and its check."""
    lines = [line for cell in cells for line in cell.source.splitlines()]
    lines = [line.partition("  #")[0].replace(name, "…") for line in lines if re.match(r"check\(|\*Difficulty", line)]
    return {re.sub(r"[★☆]+|[●○]+|\d+", "?", line) for line in lines}


def test_a_new_lesson_has_the_same_texts_for_learners_as_the_others(course):
    made = read_lesson(course / "source" / f"{MINE}.py").cells
    ours = read_lesson(ROOT / "source" / "02_softmax.py").cells
    start = next(i for i, cell in enumerate(ours) if "### Exercise: `softmax" in cell.source)
    place = next(i for i, cell in enumerate(ours) if cell.source.startswith("check(softmax)"))
    assert told_around(made, "mean") == told_around(ours[start : place + 1], "softmax")
    opening = re.compile(r"^# Lesson \d: .*\*\*You will build\*\*.*\*\*You need\*\*.*^\*\*Time:\*\*$", re.S | re.M)
    assert opening.match(made[0].source) and opening.match(ours[0].source)
    drawn = [cell for cell in made if "figures.show(" in cell.source]
    assert drawn and all(FOLDED.match(cell.source) and "alt=" in cell.source for cell in drawn)
    headings = [cell.source.splitlines()[0] for cell in made if cell.cell_type == "markdown"]
    assert "## Summary" in headings and made[-1].source == ours[-1].source == "progress()"


@pytest.mark.full("grades a submission, like many tests of the coordinator")
def test_a_new_lesson_is_graded_with_its_examples(course):
    release = nbformat.read(course / "release" / MINE / f"{MINE}.ipynb", as_version=4)
    hand_in(
        course, MINE, "ada", write_answers(release, correct_answers(load_lesson(course / "grader_tests" / MINE), 0))
    )
    assert main.main(["grade", "--course", str(course)]) == 0
    assert Course(course).scores() == {("ada", MINE): (20.0, 20.0)}
    graded = nbformat.read(course / "autograded" / "ada" / MINE / f"{MINE}.ipynb", as_version=4)
    assert not [
        o for cell in graded.cells if cell.cell_type == "code" for o in cell.outputs if o.output_type == "error"
    ]


@pytest.mark.full("publishes a course, and proves it again")
def test_examples_are_published_beside_the_notebook_and_in_the_wheel(course, tmp_path, capsys):
    course = shutil.copytree(course, tmp_path / "autumn")  # it is proved again there
    assert main.main(["publish", "--course", str(course), str(tmp_path / "students")]) == 0
    (wheel,) = (tmp_path / "students").glob("*.whl")
    for name in (f"{MINE}.examples", f"{MINE}/mean.practice"):
        assert f"course/examples/{name}" in zipfile.ZipFile(wheel).namelist()
        assert (tmp_path / "students" / name).is_file()
    source = course / "source" / f"{MINE}.py"
    source.write_text(source.read_text().replace("One idea", "Another idea"))
    assert main.main(["publish", "--course", str(course), str(tmp_path / "students")]) == 2
    assert main.main(["prove", "--course", str(course)]) == 0  # proved, but not released
    assert main.main(["publish", "--course", str(course), str(tmp_path / "students")]) == 2
    assert capsys.readouterr().err.count("09_means changed after the last proof and release") == 2


@pytest.mark.full("publishes a course, and proves it again")
def test_a_web_site_is_published_on_request_and_then_kept_up_to_date(course, tmp_path, capsys):
    students = tmp_path / "students"
    publish = ["publish", "--course", str(course), str(students)]
    new_lesson(course, "10_not_released")
    try:
        assert main.main([*publish, "--site"]) == 0
        (students / "docs" / "10_gone.html").touch()
        assert main.main(publish) == 0
        told = capsys.readouterr().out
        assert told.count("written, 1 lesson\n") == 2 and "left unchanged" not in told
    finally:
        for written in ((course / "source" / "10_not_released.py"), course / "grader_tests" / "10_not_released"):
            shutil.rmtree(written) if written.is_dir() else written.unlink()
    pages = {path.stem for path in (students / "docs").glob("*.html")}
    assert {"index", MINE} <= pages and not {"10_not_released", "10_gone"} & pages
    text = Elements((students / "docs" / f"{MINE}.html").read_text(encoding="utf-8")).text
    assert "Lesson 9: Means" in text and "sum(dim=-1) / x.shape[-1]" not in text


def test_commands_act_only_on_the_named_course(tmp_path, monkeypatch, capsys):
    here, there = (build_course(tmp_path / name) for name in ("here", "there"))
    monkeypatch.chdir(here)
    assert main.main(["build", TINY_LESSONS[0], "--course", "../there"]) == 0
    assert [(root / "source" / TINY_LESSONS[0]).is_dir() for root in (here, there)] == [False, True]
    new = tmp_path / "my course"
    new.mkdir()
    assert main.main(["build", "--course", str(new)]) == 2
    told = re.search(
        r"is not a course: it has no nbgrader_config.py\. Run `grading (.*)` to make", capsys.readouterr().err
    )
    assert told
    assert main.main(shlex.split(told[1])) == 0
    assert main.main(["build", "--course", str(new)]) == 0


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("contract", "\nx = nothing\n", "contract.py:20: NameError: name 'nothing' is not defined"),
        ("contract", "\ndef f(:\n", "contract.py:20: SyntaxError: "),
        ("mistakes", "right.mistake('m', {'?': '!'}, loses='v').feedback('x')\n", "EditError: mistake m"),
        ("mistakes", "right = double.alternative('by_magic')\n", "LookupError: "),
    ],
)
def test_an_authors_mistake_gives_one_line_with_file_and_line_number(tmp_path, capsys, file, text, told):
    root = build_course(tmp_path / "course")
    path = root / "grader_tests" / TINY_LESSONS[0] / "double" / f"{file}.py"
    path.write_text(path.read_text() + text)
    assert main.main(["build", TINY_LESSONS[0], "--course", str(root)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"grading: grader_tests/{TINY_LESSONS[0]}/double/")
    assert told in said
    assert len(said.splitlines()) == 1
    with pytest.raises(ExerciseError):
        load_lesson(root / "grader_tests" / TINY_LESSONS[0])
