"""The `grading` command: verbs, exit statuses, and a machine without a sandbox."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from grading.cli import main
from grading.course import Course
from grading.course_dir.paths import NoCourseError, course_root
from grading.grader.local import find_exercise
from grading.sandbox import grants

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import ROOT

ONE = TINY_LESSONS[0]
Grading = Callable[..., tuple[int, str, str]]
# Denies what a container's runtime usually denies, for this process and all its children
FILTERED = """
from grading.sandbox import linux, seccomp_landlock
linux.no_new_privileges()
seccomp_landlock.install_seccomp()
from grading.cli import main
for verb in {verbs!r}:
    print(verb, "ends with", main.main(verb.split()), flush=True)
"""
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="made to lack what only Linux has")


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Grading:
    """grading(directory, *arguments), run in that directory.

    Returns the exit status, stdout and stderr.
    """

    def run(directory: Path, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(directory)
        status = main.main(list(arguments))
        return status, *capsys.readouterr()

    return run


def without_sandbox(root: Path, *verbs: str) -> subprocess.CompletedProcess[str]:
    """Run verbs one by one in a process in which the system refuses a sandbox."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    command = [sys.executable, "-c", FILTERED.format(verbs=verbs)]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("class") / "course"
    return build_course(root, release=[ONE], submissions={"ada": {}})


@pytest.fixture
def course(handed_in: Path, tmp_path: Path) -> Path:
    """A course with the first lesson released and one correct submission."""
    return shutil.copytree(handed_in, tmp_path / "course")


@pytest.mark.parametrize("verb", ["build", "release", "grade", "feedback", "prove"])
def test_an_unknown_lesson_gives_an_error_with_the_known_ones(tmp_path, grading, verb):
    status, out, err = grading(build_course(tmp_path / "course"), verb, "09_none", ONE)
    assert status == 2
    assert err == "grading: no lesson 09_none; the lessons are 01_double, 02_halve\n"
    assert out == ""


@pytest.mark.parametrize("verb", ["grade", "regrade", "verify-grades", "history"])
def test_an_unknown_student_gives_an_error_with_a_similar_id(course, grading, verb):
    status, _, err = grading(course, verb, "--students", "ad", "ada")
    assert status == 2
    assert err == "grading: there is no student ad; did you mean ada?\n"


def test_version_prints_the_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main.main(["--version"])
    assert capsys.readouterr().out == f"grading {version('attention-course-teach')}\n"


@pytest.mark.parametrize("verb", ["build", "release", "grade", "feedback", "prove", "demo", "report"])
def test_outside_a_course_the_error_says_where_to_go(tmp_path, grading, verb):
    status, out, err = grading(tmp_path, verb)
    assert status == 2
    assert err == (
        f"grading: course not found: no nbgrader_config.py in {tmp_path} or above it. Change to your course folder, "
        "pass --course DIR, or make a course with `grading init DIR`.\n"
    )
    assert out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.full("grades from the command line, like test_the_road_by_verbs")
def test_the_nearest_course_above_the_current_folder_is_used(course, tmp_path, grading):
    below = course / "submitted" / "ada"
    assert course_root(below) == course
    assert grading(below, "grade", ONE)[0] == 0
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    inner = build_course(below / "another")
    assert course_root(inner / "source") == inner


def test_the_judge_in_a_notebook_finds_the_grader_tests_above_it(course, monkeypatch):
    monkeypatch.chdir(course / "source" / ONE)
    assert find_exercise("double")[1].points == 5
    monkeypatch.chdir(course.parent)
    with pytest.raises(NoCourseError, match="Change to your course folder"):
        find_exercise("double")


@pytest.mark.full
def test_a_course_below_pythons_own_files_is_hidden_from_its_students(handed_in, grading):
    with tempfile.TemporaryDirectory(dir=sys.prefix, prefix="of-a-test-") as folder:
        course = Path(shutil.copytree(handed_in, f"{folder}/course"))
        os.chmod(folder, 0o755)
        path = course / "submitted" / "ada" / ONE / f"{ONE}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        looks = (
            f"import os\nprint(os.path.exists({sys.prefix!r}), *os.listdir({sys.prefix!r}), *os.walk({str(course)!r}))"
        )
        notebook.cells.append(nbformat.v4.new_code_cell(looks, id="looks"))
        nbformat.write(notebook, path)
        assert grading(course, "grade", ONE)[0] == 0
        graded = nbformat.read(course / "autograded" / "ada" / ONE / f"{ONE}.ipynb", as_version=4)
        (told,) = (cell.outputs[0].text for cell in graded.cells if cell.source == looks)
    assert told.startswith("True ")
    assert "grader_tests" not in told
    assert "source" not in told


def test_report_needs_no_gradebook_and_no_activated_environment(tmp_path, grading, monkeypatch):
    monkeypatch.setenv("PATH", os.defpath)
    status, told, _ = grading(build_course(tmp_path / "course"), "report")
    assert status == 0
    assert "Nothing is graded yet" in told


def test_the_road_by_verbs(course, grading):
    assert grading(course, "grade", ONE)[0] == 0
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    assert grading(course, "feedback")[0] == 0
    assert (course / "feedback" / "ada" / ONE / f"{ONE}.html").exists()
    status, told, _ = grading(course, "report", "--students")
    assert status == 0
    assert any(line.split() == ["ada", "5/5"] for line in told.splitlines())
    export = course / "canvas.csv"
    export.write_text('Student,ID,01 Double (1)\n    Points Possible,,5\n"A, Ada",ada,\n')
    assert grading(course, "fill-gradebook", str(export), ONE)[0] == 0
    assert (course / "canvas-filled.csv").read_text().splitlines()[-1] == '"A, Ada",ada,5'
    page, tables = course / "class.html", course / "tables"
    assert grading(course, "report", "--html", str(page), "--csv", str(tables), "--anonymous")[0] == 0
    assert "student 1" in page.read_text()
    assert not re.search(r"\bada\b", page.read_text())
    assert "student 1,01_double,5,5,False" in (tables / "students.csv").read_text()


@pytest.mark.full("grades from the command line, like test_the_road_by_verbs")
def test_the_exit_status_reports_a_submission_that_cannot_be_graded(course, grading):
    (course / "submitted" / "bob" / ONE).mkdir(parents=True)
    status, told, _ = grading(course, "grade")
    assert status == 2
    assert f"{ONE}, bob: No {ONE}.ipynb was handed in. Hand in {ONE}.ipynb." in " ".join(told.split())
    assert Course(course).scores()["ada", ONE] == (5, 5)


def test_the_exit_status_of_doctor_shows_whether_a_sandbox_is_available(course, grading):
    status, told, _ = grading(course, "doctor")
    enough = all(grant.granted for grant in grants() if grant.required)
    assert status == (0 if enough else 1)
    assert "What the system grants" in told


def test_doctor_recommends_the_python_of_the_students_where_it_is_newer(course, grading):
    file, here = course / "submitted" / "ada" / ONE / f"{ONE}.ipynb", f"3.{sys.version_info.minor}"
    notebook = nbformat.read(file, as_version=4)
    for number in (f"{here}.0", "3.98.0"):
        notebook.metadata.language_info = {"codemirror_mode": {"name": "ipython", "version": 3}, "version": number}
        nbformat.write(notebook, file)
        _, told, _ = grading(course, "doctor")
        assert ("Students use" in told) == (number == "3.98.0")
    assert told.endswith(
        f"\n\nStudents use Python 3.98 (1 notebook in submitted/). The grader runs Python {here}, which may not read "
        "all of their code. Grade with Python 3.98 or newer.\n"
    )
    assert "Students use" not in grading(course.parent, "doctor")[1]


@linux_only
def test_nothing_is_graded_without_a_sandbox(course):
    done = without_sandbox(course, "doctor", "grade", "demo")
    assert done.returncode == 0, done.stderr
    for verb, status in (("doctor", 1), ("grade", 2), ("demo", 2)):
        assert f"{verb} ends with {status}" in done.stdout
    assert "Nothing can be graded here" in done.stdout
    message = "grading: nothing was graded. This machine cannot confine student code. Missing: "
    assert done.stderr.count(message) == 2
    assert done.stderr.count("--unsandboxed") == 2
    assert "Traceback" not in done.stderr
    assert not (course / "autograded").exists()
    assert Course(course).scores() == {}


@pytest.mark.full
@linux_only
def test_a_change_of_lateness_alone_is_shown_and_written_without_a_judge(course, grading):
    """No judge can start here, so none was needed."""
    assert grading(course, "grade", ONE)[0] == 0
    before = Course(course).verdicts()
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_assignment(ONE, duedate="2026-11-20 23:59:00 UTC")
    (course / "submitted" / "ada" / ONE / "timestamp.txt").write_text("2026-11-21 08:00:00 UTC")
    half = f"regrade {ONE} --LatePolicy.policy=half"
    shown = without_sandbox(course, half)
    assert "ends with 0" in shown.stdout, shown.stderr
    assert "late penalty: 0 before, 2.5 now" in shown.stdout
    assert Course(course).scores() == {("ada", ONE): (5, 5)}, "it is only shown"
    done = without_sandbox(course, f"{half} --yes", f"grade {ONE} --LatePolicy.policy=zero")
    assert (
        done.stdout.count("ends with 0") == 1 and "grade 01_double --LatePolicy.policy=zero ends with 2" in done.stdout
    )
    assert Course(course).scores() == {("ada", ONE): (2.5, 5)}
    assert Course(course).verdicts() == before, "the verdicts are those that were"
    assert "5" in grading(course, "history", ONE)[1]
    (course / "autograded" / "ada" / ONE / f"{ONE}.ipynb").unlink()
    assert "ends with 2" in without_sandbox(course, half).stdout, "more than lateness has changed"


@pytest.mark.full("grades from the command line, like test_the_road_by_verbs")
@linux_only
def test_unsandboxed_grades_without_a_sandbox_and_marks_every_grade(course, grading):
    done = without_sandbox(course, "grade --unsandboxed")
    assert "grade --unsandboxed ends with 0" in done.stdout, done.stderr
    assert "Without the sandbox" in done.stdout
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    assert [found.verdict.sandboxed for found in Course(course).verdicts()] == [False]
    grading(course, "feedback")
    page = (course / "feedback" / "ada" / ONE / f"{ONE}.html").read_text()
    assert "Graded without the sandbox." in page
    assert "1 of these submissions was graded without the sandbox." in grading(course, "report")[1]


@pytest.mark.full("grades from the command line, like test_the_road_by_verbs")
def test_unsandboxed_marks_grades_and_grading_again_uses_the_sandbox(course, grading):
    assert grading(course, "grade", "--unsandboxed")[0] == 0
    assert [found.verdict.sandboxed for found in Course(course).verdicts()] == [False]
    assert grading(course, "grade", "--again")[0] == 0
    assert [found.verdict.sandboxed for found in Course(course).verdicts()] == [True]
