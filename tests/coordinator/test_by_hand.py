"""Manually graded cells count with the same points in every place.

They are open, provisional, or graded.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from traitlets.config import Config

from grading.cli import main
from grading.coordinator.converters import autograde, generate_feedback
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.nbgrader_plugins import csv_exporters

from ..support.by_hand_lesson import (
    ANSWER,
    BY_HAND,
    CODE,
    LESSON,
    MOST,
    QUESTION,
    TASK,
    WHY,
    cell_of,
    course_by_hand,
    grade_by_hand,
    hand_in_by_hand,
    open_book,
    open_cells,
    review_by_hand,
)
from ..support.canvas_server import TOKEN, FakeCanvas, canvas

pytestmark = [
    pytest.mark.usefixtures("sandboxed"),
    pytest.mark.filterwarnings("ignore:Canvas may respond unexpectedly:UserWarning"),  # to HTTP on this machine
]

POINTS = {ANSWER: 2.5, CODE: 3.0, TASK: 1.0, WHY: 1.0}
USERS = [{"id": 501, "name": "Ada", "login_id": "ada"}, {"id": 502, "name": "Bob", "login_id": "bob"}]
ASSIGNMENTS = [{"id": 91, "name": "01 Double", "points_possible": 15.0}]


@pytest.fixture(scope="session")
def graded_by_hand(build_course_once: Callable[..., Path]) -> Path:
    """A course with two autograded submissions; do not change it.

    ada answers everything, bob answers neither the essay nor the question.
    """

    def build(root: Path) -> None:
        course_by_hand(root)
        hand_in_by_hand(root, "ada")
        hand_in_by_hand(root, "bob", essay="", why="")
        regrade(root)

    return build_course_once("by-hand", build)


@pytest.fixture
def course(graded_by_hand: Path, fresh_copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    root = fresh_copy(graded_by_hand)
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "200")
    return root


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCanvas]:
    monkeypatch.setenv("CANVAS_API_TOKEN", TOKEN)
    with canvas(USERS, ASSIGNMENTS) as made:
        yield made


def regrade(root: Path, **options: bool) -> None:
    assert not grade_class(Course(root), [LESSON], Console(quiet=True), **options).failed


def exported(root: Path, name: str, provisional: bool) -> list[dict[str, str]]:
    """The rows of one of our exporters."""
    file, config = root / f"{name}.csv", Course(root).config
    config[name] = Config(provisional=provisional)
    exporter = getattr(csv_exporters, name)(config=config, to=str(file))
    directory = CourseDirectory(config=config)
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        exporter.export(gradebook)
    with file.open(encoding="utf-8-sig", newline="") as rows:
        return list(csv.DictReader(rows))


def totals(root: Path, there: FakeCanvas, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, str]:
    """ada's points in each place, as it shows them. `more`: --provisional or nothing."""
    found = dict[str, str]()
    capsys.readouterr()
    assert main.main(["report", "--students", "--html", "page.html", "--csv", "tables"]) == 0
    assert main.main(["report", "--students"]) == 0
    found["report"] = re.search(r"ada +(\S+)/15", capsys.readouterr().out)[1]
    starred = re.search(r'<th scope="row">ada</th>\s*<td[^>]*>([^<]*)<', Path("page.html").read_text())[1]
    found["html"] = starred.rstrip("*")
    with open("tables/students.csv", encoding="utf-8-sig", newline="") as file:
        found["csv"] = next(row["points"] for row in csv.DictReader(file) if row["student"] == "ada")
    generate_feedback(Course(root), LESSON, "ada")
    page = (root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    found["feedback"] = re.search(r'<p class="total"><b>([\d.]+)</b> of 15 points', page)[1]
    found["scores"] = f"{Course(root).scores()['ada', LESSON][0]:g}"
    provisional = bool(more)
    rows = exported(root, "GradesCsvExporter", provisional)
    found["grades.csv"] = next(row["score"] for row in rows if row["student_id"] == "ada")
    rows = exported(root, "WideCsvExporter", provisional)
    found["class.csv"] = next(row[LESSON] for row in rows if row["student_id"] == "ada")
    ours = [row for row in exported(root, "ExercisesCsvExporter", provisional) if row["student"] == "ada"]
    assert {row["exercise"] for row in ours} == {"double", *BY_HAND}
    given = [float(row["points"]) for row in ours if row["points"]]
    found["exercises.csv"] = f"{sum(given):g}" if given else ""
    Path("lms.csv").write_text(f"ID number,Email address,Assignment: {LESSON} (Real)\nada,,\nbob,,\n")
    main.main(["fill-gradebook", "lms.csv", LESSON, "--out", "filled.csv", *more])
    with open("filled.csv", encoding="utf-8", newline="") as file:
        found["fill-gradebook"] = next(row[2] for row in csv.reader(file) if row[0] == "ada")
    where = ["--url", there.url, "--canvas-course", "7"]
    capsys.readouterr()
    main.main(["push", "canvas", LESSON, *where, *more])
    sent = re.search(r"ada +Ada \(501\) +\S+ +(\S+)", capsys.readouterr().out)
    found["push"] = sent[1] if sent else ""
    return found


IN_THE_COURSE = {"report", "html", "csv", "feedback", "scores"}


def test_provisional_points_are_the_same_everywhere_and_stay_in_the_course(course, there, capsys):
    assert open_cells(course, "ada") == set(BY_HAND)
    assert open_cells(course, "bob") == {CODE, TASK}  # empty answers have no points and need no person
    grade_by_hand(course, "bob", {CODE: 4, TASK: 0})  # one student of the class is completely graded
    found = totals(course, there, capsys)
    assert {place: points for place, points in found.items() if points} == dict.fromkeys(IN_THE_COURSE, "5")
    page = (course / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    assert "a person still has to grade 10 of them" in page and "A model answer" not in page
    with_it = totals(course, there, capsys, "--provisional")
    assert with_it == dict.fromkeys(with_it, "5")


def test_manual_points_are_the_same_everywhere(course, there, capsys):
    grade_by_hand(course, "ada", POINTS, comment="A *clear* essay.", essay=0.25)
    grade_by_hand(course, "bob", {CODE: 4, TASK: 0})
    found = totals(course, there, capsys)
    assert found == dict.fromkeys(found, "12.75")
    page = (course / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    assert "A <em>clear</em> essay." in page and "My essay." in page
    assert "It is a sum." in page and "%%answer" not in page
    assert "Says that twice is a sum. (+2)" in page and "A model answer" in page
    assert main.main(["report"]) == 0
    assert "Needs a person" not in capsys.readouterr().out


SEVENTHS = QUESTION.split("[[rubric]]")[0].replace("points = 2", "points = 7") + "".join(
    f'[[rubric]]\nid = "item-{number}"\ntext = "Item {number}"\npoints = 1\n' for number in range(7)
)


@pytest.mark.parametrize(("ticked", "total"), [(7, "13.5"), (3, "12.3571"), (0, "11.5")])
def test_points_of_a_rubric_are_rounded_only_where_they_are_shown(course, there, capsys, ticked, total):
    (course / "grader_tests" / LESSON / "questions" / f"{WHY}.toml").write_text(SEVENTHS)  # 7 items for 2 points
    grade_by_hand(course, "ada", {ANSWER: 2.5, CODE: 3, TASK: 1})
    review_by_hand(course, "ada", WHY, items=[f"item-{number}" for number in range(ticked)], graded=True)
    with open_book(course) as gradebook:
        assert gradebook.find_submission(LESSON, "ada").score == pytest.approx(11.5 + 2 * ticked / 7, abs=1e-9)
    grade_by_hand(course, "bob", {CODE: 4, TASK: 0})
    found = totals(course, there, capsys)
    assert found == dict.fromkeys(found, total)
    assert main.main(["gradebook", "all.csv", "--total"]) == 0
    with open("all.csv", encoding="utf-8-sig", newline="") as file:
        ada = next(row for row in csv.DictReader(file) if row["student_id"] == "ada")
    assert (ada[LESSON], ada["total"]) == (total, total)


def test_open_grades_are_listed_and_named_where_they_are_left_out(course, there, capsys):
    assert main.main(["report"]) == 0
    assert f"    ada, {LESSON}: essay, plot, survey, why" in capsys.readouterr().out
    Path("lms.csv").write_text(f"ID number,Assignment: {LESSON} (Real)\nada,\nbob,\n")
    assert main.main(["fill-gradebook", "lms.csv", LESSON]) != 0
    assert f"all points of {LESSON} are provisional" in capsys.readouterr().err
    grade_by_hand(course, "bob", {CODE: 4, TASK: 0})
    assert main.main(["push", "canvas", LESSON, "--url", there.url, "--canvas-course", "7"]) == 0
    assert "not graded everything yet (--provisional sends the points so far): ada" in capsys.readouterr().out


@pytest.mark.full("starts nbgrader twice")
def test_nbgraders_export_command_accepts_the_trait(course):
    command = [Path(sys.executable).parent / "nbgrader", "export", "--to=grades.csv"]

    def run(*more: str) -> tuple[str, dict[str, str]]:
        done = subprocess.run([*command, *more], cwd=course, capture_output=True, text=True, check=True)
        with open("grades.csv", encoding="utf-8-sig", newline="") as file:
            return done.stderr, {row["student_id"]: row["score"] for row in csv.DictReader(file)}

    said, points = run()
    assert points == {"ada": "", "bob": ""}
    assert (
        f"2 submissions have no points in the file, because a person has not graded everything yet (ada, {LESSON}; bob"
        in said
    )
    said, points = run("--GradesCsvExporter.provisional=True")
    assert points == {"ada": "5", "bob": "5"}
    assert "no points in the file" not in said


@pytest.mark.full
def test_grading_again_keeps_manual_points_and_reopens_only_changed_answers(course, capsys):
    grade_by_hand(course, "ada", POINTS)
    contract = course / "grader_tests" / LESSON / "double" / "contract.py"
    contract.write_text(contract.read_text().replace("normal(3, 5)", "normal(3, 6)"))
    regrade(course)
    assert open_cells(course, "ada") == set()
    assert Course(course).scores()["ada", LESSON] == (12.5, 15)

    hand_in_by_hand(course, "ada", essay="Another essay.")
    regrade(course)
    assert open_cells(course, "ada") == {ANSWER, TASK}  # a task may be answered anywhere in the notebook
    with open_book(course) as gradebook:
        assert gradebook.find_grade(ANSWER, LESSON, LESSON, "ada").manual_score is None
    capsys.readouterr()
    assert main.main(["history", LESSON]) == 0
    told = capsys.readouterr().out
    assert "essay 2.5 by hand" in told and "the submission changed" in told
    assert main.main(["report"]) == 0
    assert f"    ada, {LESSON}: essay, survey\n" in capsys.readouterr().out


def page_of(root: Path, student: str) -> str:
    generate_feedback(Course(root), LESSON, student)
    return (root / "feedback" / student / LESSON / f"{LESSON}.html").read_text()


def test_a_new_submission_has_no_points_or_notes_of_the_first_until_that_comes_back(course, capsys):
    grade_by_hand(course, "ada", {ANSWER: 1, CODE: 3, TASK: 1}, comment="Too short.")
    review_by_hand(course, "ada", WHY, items=["power"], comment="You confuse it with the square.")
    first = page_of(course, "ada")
    assert "<b>10</b> of 15 points" in first and first.count("A note from your teacher") == 2
    hand_in_by_hand(course, "ada", essay="A better essay.", why="x + x")
    assert main.main(["regrade", LESSON]) == 0
    assert re.search(r"ada +10 +8\* +-2 ", capsys.readouterr().out)
    regrade(course)
    assert open_cells(course, "ada") == {ANSWER, TASK, WHY}
    page = page_of(course, "ada")
    assert "<b>8</b> of 15 points; a person still has to grade 6 of them" in page
    assert "A note from your teacher" not in page and "Confuses it" not in page
    assert main.main(["history", LESSON]) == 0
    assert "essay 1 by hand" in capsys.readouterr().out
    hand_in_by_hand(course, "ada")
    regrade(course)
    assert open_cells(course, "ada") == set()
    page = page_of(course, "ada")
    assert "<b>10</b> of 15 points" in page and page.count("A note from your teacher") == 2 and "✓ Confuses it" in page


def test_an_answer_that_a_person_looks_at_again_counts_once_in_the_total(course, capsys):
    grade_by_hand(course, "ada", {ANSWER: 2.5, CODE: 3, TASK: 1, WHY: 1})
    assert main.main(["reopen", "ada", LESSON, WHY, "--because", "asked"]) == 0
    page = page_of(course, "ada")
    assert "<b>12.5</b> of 15 points; a person looks again at 2 of them" in page


@pytest.mark.full("autogrades like its neighbours")
def test_nbgraders_own_command_keeps_manual_points_too(course):
    grade_by_hand(course, "ada", POINTS)
    autograde(Course(course), LESSON, "ada", again=True)
    assert open_cells(course, "ada") == set()
    assert Course(course).scores()["ada", LESSON] == (12.5, 15)


@pytest.mark.full("autogrades like its neighbours")
def test_an_answer_in_another_cell_is_found(course):
    notebook = nbformat.read(course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id != WHY]
    notebook.cells.append(new_code_cell("%%answer why\nIt is a sum, retyped."))
    nbformat.write(notebook, course / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb")
    regrade(course)
    graded = nbformat.read(course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb", as_version=4)
    (cell,) = [cell for cell in graded.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == WHY]
    assert "retyped" in cell.source
    assert WHY in open_cells(course, "ada")


def test_the_release_has_the_question_and_an_empty_answer_cell(course):
    assert cell_of(course, "why").source == "%%answer why (2 points)\nYOUR ANSWER HERE"
    assert cell_of(course, "question-why").source.startswith(
        "### Why twice?\n\n*In your own words · 2 points, given by a person.*"
    )
    assert "x + x" not in cell_of(course, "question-why").source
    assert {name: cell_of(course, name).metadata.nbgrader.points for name in MOST} == MOST


@pytest.mark.full
def test_a_reopened_grade_is_listed_with_the_reason_until_a_person_has_graded_again(course, capsys):
    grade_by_hand(course, "ada", POINTS)
    assert main.main(["reopen", "ada", LESSON, "double", "--because", "asked about the gradient"]) == 0
    assert f"ada, {LESSON}: double is open again" in capsys.readouterr().out
    assert main.main(["report", "--html", "page.html"]) == 0
    assert "reopened: asked about the gradient" in Path("page.html").read_text()
    assert main.main(["report", "--students"]) == 0
    told = capsys.readouterr().out
    assert f"    ada, {LESSON}: double (reopened: asked about the gradient)" in told
    assert "12.5/15*" in told
    regrade(course, again=True)  # this does not answer the request
    assert open_cells(course, "ada") == {"check_double"}

    grade_by_hand(course, "ada", {"check_double": 4.5})
    assert main.main(["report", "--students"]) == 0
    told = capsys.readouterr().out
    assert "12/15" in told and "reopened" not in told
    assert main.main(["history", LESSON]) == 0
    told = capsys.readouterr().out
    assert "double reopened: asked about the gradient" in told and "double 5 right" in told
    assert "12.5" in told and "current grade" in told

    hand_in_by_hand(course, "ada", essay="Another essay.")
    regrade(course)
    assert main.main(["report"]) == 0
    assert "reopened" not in capsys.readouterr().out  # the old request is settled


def test_a_whole_lesson_can_be_reopened(course):
    grade_by_hand(course, "ada", POINTS)
    assert main.main(["reopen", "ada", LESSON, "--because", "appeal"]) == 0
    assert open_cells(course, "ada") == set(MOST)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["adda", LESSON], f"adda has no grade of {LESSON}; did you mean ada?"),
        (["ada", "09_none"], "the gradebook has no lesson 09_none"),
        (["ada", LESSON, "duoble"], f"{LESSON} has no exercise or question duoble; did you mean double?"),
    ],
)
def test_a_grade_that_cannot_be_reopened_gives_an_error(course, capsys, arguments, why):
    assert main.main(["reopen", *arguments, "--because", "appeal"]) != 0
    assert why in capsys.readouterr().err
