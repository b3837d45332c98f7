"""Steps over a class: what is done again and what is not, and that one broken submission stops nothing."""

from __future__ import annotations

import copy
import io
import json
import shutil
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from grading.build import BuildError
from grading.judge.lesson import load_lesson
from grading.report import verdicts
from grading.run.classroom import demonstrate, grade_class, release_lessons, write_feedback
from grading.run.nbgrader import scores, waiting
from grading.sample import hand_in, right, write_answers
from grading.seeds import course_seed, name_of

from ..small import LESSONS, make_course

pytestmark = pytest.mark.slow

ONE, TWO = LESSONS


class Heard(Console):
    """A console that keeps what it was told."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=200, force_terminal=False)

    @property
    def text(self) -> str:
        return self.file.getvalue()


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_course(tmp_path_factory.mktemp("class") / "course")
    release_lessons(root, [], Heard())
    return root


@pytest.fixture
def course(released: Path, tmp_path: Path) -> Path:
    """A course in which both lessons are released and nothing is handed in."""
    return shutil.copytree(released, tmp_path / "course")


def solved(root: Path, lesson: str, **answers: str) -> nbformat.NotebookNode:
    """The release with right answers, but for those given."""
    release = nbformat.read(root / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    known = right(load_lesson(root / "grader_tests" / lesson), 0)
    return write_answers(release, known | answers)


def test_release_makes_what_is_missing_or_old_and_says_which(course):
    console = Heard()
    release_lessons(course, [], console)
    assert console.text.splitlines() == [f"{lesson}: release is up to date" for lesson in LESSONS]

    text = course / "source" / f"{TWO}.py"
    text.write_text(text.read_text().replace("# # To halve", "# # To halve\n#\n# Newly told."))
    shutil.rmtree(course / "release" / ONE)
    console = Heard()
    release_lessons(course, [TWO], console)
    assert console.text == f"{TWO}: released to release/{TWO}/{TWO}.ipynb\n"
    assert "Newly told." in (course / "release" / TWO / f"{TWO}.ipynb").read_text()
    assert not (course / "release" / ONE).exists()


def test_a_lesson_that_is_released_but_not_in_the_gradebook_is_released_again(course):
    (course / "gradebook.db").unlink()
    console = Heard()
    release_lessons(course, [ONE], console)
    assert "released to" in console.text


@pytest.mark.parametrize("act", [release_lessons, grade_class, write_feedback])
def test_an_unknown_lesson_is_told_with_those_there_are(course, act):
    with pytest.raises(BuildError, match=r"no lesson 09_none; there are 01_double, 02_halve"):
        act(course, ["09_none"], Heard())


def test_a_class_is_graded_once_and_again_when_something_newer_is_handed_in(course):
    hand_in(course, ONE, "ada", solved(course, ONE))
    hand_in(course, ONE, "bob", solved(course, ONE, double="def double(x):\n    return x * x"))
    console = Heard()
    assert grade_class(course, [ONE], console) == 0
    assert "01_double: 2 graded" in console.text
    assert scores(course) == {("ada", ONE): (5, 5), ("bob", ONE): (0, 5)}

    graded = course / "autograded" / "bob" / ONE / f"{ONE}.ipynb"
    before = graded.read_bytes()
    console = Heard()
    assert grade_class(course, [], console) == 0
    assert "01_double: 2 graded before, and not changed since" in console.text
    assert graded.read_bytes() == before

    hand_in(course, ONE, "bob", solved(course, ONE))
    console = Heard()
    assert grade_class(course, [], console) == 0
    assert "01_double: 1 graded before, and not changed since" in console.text
    assert scores(course)["bob", ONE] == (5, 5)


def test_what_is_newer_without_a_timestamp_is_graded_again(course):
    path = course / "submitted" / "ada" / ONE / f"{ONE}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(solved(course, ONE, double="def double(x):\n    return x * x")))
    assert grade_class(course, [ONE], Heard()) == 0
    assert scores(course)["ada", ONE] == (0, 5)
    path.write_text(nbformat.writes(solved(course, ONE)))
    assert grade_class(course, [ONE], Heard()) == 0
    assert scores(course)["ada", ONE] == (5, 5)


def test_again_grades_what_is_graded(course):
    hand_in(course, ONE, "ada", solved(course, ONE))
    assert grade_class(course, [ONE], Heard()) == 0
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.JudgedExecute.seed = 7\n")
    assert grade_class(course, [ONE], Heard()) == 0
    assert {found.verdict.seed for found in verdicts(course)} == {name_of(course_seed(course))}
    assert grade_class(course, [ONE], Heard(), again=True) == 0
    assert {found.verdict.seed for found in verdicts(course)} == {name_of("7")}


def test_a_broken_submission_is_told_in_one_line_and_does_not_stop_the_rest(course):
    for student in ("ada", "zoe"):
        hand_in(course, ONE, student, solved(course, ONE))
    for student, name in {"ben": "notes [draft].txt", "cem": "homework.ipynb"}.items():
        folder = course / "submitted" / student / ONE
        folder.mkdir(parents=True)
        (folder / name).write_text("{}")
    (course / "submitted" / "dan" / ONE).mkdir(parents=True)
    truncated = course / "submitted" / "eve" / ONE / f"{ONE}.ipynb"
    truncated.parent.mkdir(parents=True)
    truncated.write_text(json.dumps(solved(course, ONE))[:-300])
    console = Heard()
    assert grade_class(course, [ONE], console) == 3
    told = [line for line in console.text.splitlines() if line.startswith("✗")]
    assert told == [
        f"✗ {ONE}, ben: no {ONE}.ipynb was handed in, but notes [draft].txt",
        f"✗ {ONE}, cem: no {ONE}.ipynb was handed in, but homework.ipynb",
        f"✗ {ONE}, dan: no {ONE}.ipynb was handed in, but nothing",
    ]
    assert scores(course)["ada", ONE] == scores(course)["zoe", ONE] == (5, 5)
    assert {g.verdict.status for g in verdicts(course) if g.student == "eve"} == {"needs a person"}
    assert waiting(course) == {("eve", ONE, "double")}


def test_what_nbgrader_refuses_is_told_without_its_traceback(course):
    other = copy.deepcopy(solved(course, ONE))
    hand_in(course, ONE, "ada", other)
    (course / "autograded").write_text("a file where the folder of graded notebooks must be")
    console = Heard()
    assert grade_class(course, [ONE], console) == 1
    told = [line for line in console.text.splitlines() if line.startswith("✗")]
    assert len(told) == 1
    assert told[0].startswith(f"✗ {ONE}, ada: ")
    assert "Traceback" not in console.text
    assert "autograded" in told[0]


def test_a_lesson_that_was_not_released_is_told_once_and_the_others_are_graded(tmp_path):
    root = make_course(tmp_path / "course")
    release_lessons(root, [TWO], Heard())
    for student in ("ada", "bob"):
        hand_in(root, TWO, student, solved(root, TWO))
        hand_in(root, ONE, student, solved(root, TWO))
    console = Heard()
    assert grade_class(root, [], console) == 1
    assert console.text.count("run `make release`") == 1
    assert f"{ONE} is not released yet" in console.text
    assert scores(root) == {("ada", TWO): (5, 5), ("bob", TWO): (5, 5)}


def test_the_demonstration_goes_the_whole_road_and_reuses_it_the_second_time(tmp_path):
    root = make_course(tmp_path / "course")
    console = Heard()
    assert demonstrate(root, console) == 0
    assert console.text.count("9 sample submissions handed in") == 2
    points = scores(root)
    assert len(points) == 18
    assert points["sample-ada", ONE] == points["sample-ivo-colab", TWO] == (5, 5)
    assert points["sample-dara-untouched", ONE] == (0, 5)
    assert points["sample-fatou", ONE][0] < 5
    for student, lesson in points:
        page = (root / "feedback" / student / lesson / f"{lesson}.html").read_text()
        assert "BEGIN HIDDEN" not in page

    graded = {path: path.read_bytes() for path in (root / "autograded").rglob("*.ipynb")}
    console = Heard()
    assert demonstrate(root, console) == 0
    for lesson in LESSONS:
        assert f"{lesson}: release is up to date" in console.text
        assert f"{lesson}: sample class reused" in console.text
        assert f"{lesson}: 9 graded before, and not changed since" in console.text
    assert {path: path.read_bytes() for path in (root / "autograded").rglob("*.ipynb")} == graded
    assert scores(root) == points
