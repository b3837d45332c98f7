"""`grading collect` turns unmodified downloads into graded submissions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbconvert import PythonExporter

from grading.cli import main
from grading.cli.arguments import NOT_DONE
from grading.coordinator.demo_class import correct_answers, write_answers
from grading.course import Course
from grading.exercises.lesson import load_lesson
from grading.gradebook.lock import exclusive

from ...support import class_fixtures
from ...support.course_builder import TINY_LESSONS
from ...support.lms_downloads import moodle, notebook, zipped
from ...support.repository import ROOT

course = class_fixtures.course  # a class, not the two exercises of this folder

ONE, TWO = TINY_LESSONS
Collect = Callable[..., tuple[int, str, str]]


@pytest.fixture
def collect(course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Collect:
    """collect(*arguments), below the course directory.

    Returns the exit status, stdout and stderr.
    """
    monkeypatch.chdir(course / "source")
    monkeypatch.setenv("COLUMNS", "300")

    def run(*arguments: Path | str) -> tuple[int, str, str]:
        status = main.main(["collect", *map(str, arguments)])
        return status, *capsys.readouterr()

    return run


def submitted(root: Path, lesson: str = ONE) -> dict[str, str]:
    found = (root / "submitted").glob(f"*/{lesson}/{lesson}.ipynb")
    return {path.parts[-3]: json.loads(path.read_text())["cells"][0]["source"] for path in found}


def download(folder: Path, files: dict[str, bytes], name: str = "submissions.zip") -> Path:
    path = folder / name
    path.write_bytes(zipped(files))
    return path


def test_an_unmodified_download_is_collected_once_and_again(collect: Collect, course: Path, tmp_path: Path) -> None:
    files = {f"jane_7_600_{ONE}.ipynb": notebook("jane"), f"bo_8_601_{ONE}.ipynb": notebook("bo")}
    archive = download(tmp_path, files)
    status, said, _ = collect(archive)
    assert status == 0 and "2 taken" in said
    assert submitted(course) == {"jane": "jane", "bo": "bo"}
    assert not (course / "downloaded").exists()
    before = {path: path.stat().st_mtime_ns for path in (course / "submitted").rglob("*.ipynb")}
    status, said, _ = collect(archive)
    assert status == 0 and said.strip() == "2 as before"
    assert before == {path: path.stat().st_mtime_ns for path in (course / "submitted").rglob("*.ipynb")}


def test_folders_and_several_downloads_are_collected_together(collect: Collect, course: Path, tmp_path: Path) -> None:
    unpacked = tmp_path / "submissions"
    unpacked.mkdir()
    (unpacked / f"jane_7_600_{ONE}.ipynb").write_bytes(notebook("first"))
    (unpacked / "hand-in.zip").write_bytes(zipped({f"bo_8_1_{ONE}.ipynb": notebook("forged")}))
    status, said, _ = collect(unpacked, download(tmp_path, {f"jane_7_601_{ONE}-1.ipynb": notebook("later")}))
    assert submitted(course) == {"jane": "later"}
    assert status == 1 and "1 taken, 1 whose?" in said, "an archive in a folder is somebody's hand-in, not a download"


def test_questions_are_saved_in_the_course_and_their_answers_are_used(
    collect: Collect, course: Path, tmp_path: Path
) -> None:
    archive = download(tmp_path, {f"mine {ONE}.ipynb": notebook("jane")})
    status, said, _ = collect(archive)
    assert status == 1 and str(course / "student-ids.csv") in said
    table = (course / "student-ids.csv").read_text(encoding="utf-8-sig")
    (course / "student-ids.csv").write_text(table.replace("\n,file", "\njane,file"), encoding="utf-8")
    assert collect(archive)[0] == 0
    assert submitted(course) == {"jane": "jane"}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"jane_7_600_mine.ipynb": b""}, f"the file names show no lesson. Name the lesson: --lesson {ONE}"),
        ({f"jane_7_600_{ONE}.ipynb": b"", f"bo_8_601_{TWO}.ipynb": b""}, f"several lessons ({ONE}, {TWO})"),
    ],
)
def test_a_lesson_that_file_names_do_not_reveal_must_be_named(
    collect: Collect, course: Path, tmp_path: Path, files: dict[str, bytes], why: str
) -> None:
    archive = download(tmp_path, dict.fromkeys(files, notebook("x")))
    status, _, said = collect(archive)
    assert status == 2 and why in said
    assert submitted(course) == {}
    collect(archive, "--lesson", TWO)
    assert submitted(course, TWO)


def test_downloads_of_several_lessons_take_one_command(collect: Collect, course: Path, tmp_path: Path) -> None:
    one = download(
        tmp_path, {f"jane_7_600_{ONE}.ipynb": notebook("one"), f"bo_8_601_{ONE}.ipynb": notebook("b")}, "a.zip"
    )
    two = download(tmp_path, {f"jane_7_700_{TWO}.ipynb": notebook("two"), "bo_8_701_x.pdf": b""}, "b.zip")
    gathered = tmp_path / "mailed"
    for name in (f"cy/{ONE}.ipynb", f"cy/{TWO}.ipynb", f"dee/{TWO}.ipynb"):
        (gathered / name).parent.mkdir(parents=True, exist_ok=True)
        (gathered / name).write_bytes(notebook(name))
    (gathered / "eve").mkdir()
    (gathered / "eve" / "all.zip").write_bytes(zipped({f"x/{ONE}.ipynb": notebook("eve")}))
    status, said, _ = collect(one, two, gathered)
    assert submitted(course) == {"jane": "one", "bo": "b", "cy": f"cy/{ONE}.ipynb", "eve": "eve"}
    assert submitted(course, TWO) == {"jane": "two", "cy": f"cy/{TWO}.ipynb", "dee": f"dee/{TWO}.ipynb"}
    assert status == 1 and "7 taken, 1 skipped" in said
    (skipped,) = (line for line in said.splitlines() if line.startswith("skipped"))
    assert TWO in skipped and "bo (8) in b.zip" in skipped
    remedy = re.search("put the file that counts at (.*) yourself", said)
    assert remedy
    by_hand = course / remedy[1].replace("<student>", "bo")
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(notebook("by hand"))
    assert collect(one, two, gathered)[0] == 1
    assert submitted(course, TWO)["bo"] == "by hand" and Course(course).students_in_submitted(TWO) == [
        "bo",
        "cy",
        "dee",
        "jane",
    ]


def test_a_file_of_another_lesson_in_a_download_is_not_sorted_to_that_lesson(
    collect: Collect, course: Path, tmp_path: Path
) -> None:
    files = {f"{name}_{n}_60{n}_{TWO}.ipynb": notebook(name) for n, name in enumerate(["ada", "bo"], 1)}
    archive = download(tmp_path, {**files, f"cy_9_609_{ONE}.ipynb": notebook("by mistake")})
    status, said, _ = collect(archive)
    assert status == 1 and submitted(course) == {}
    assert submitted(course, TWO) == {"ada": "ada", "bo": "bo"}
    assert f"it has no notebook of this lesson: cy_9_609_{ONE}.ipynb" in said


def test_an_assignment_for_two_lessons_is_sorted_to_both(collect: Collect, course: Path, tmp_path: Path) -> None:
    files = {moodle("Jane", 1, f"{name}.ipynb"): notebook(name) for name in (ONE, TWO)}
    files |= {moodle("Bo", 2, f"{name}.ipynb"): notebook(name) for name in (ONE, TWO)}
    status, said, _ = collect(download(tmp_path, {**files, moodle("Cy", 3, "mine.ipynb"): notebook("which?")}))
    assert submitted(course) == {"jane": ONE, "bo": ONE} and submitted(course, TWO) == {"jane": TWO, "bo": TWO}
    assert status == 1 and "the file names show no lesson" in said and "Cy (3)" in said


def test_a_file_that_a_teacher_corrected_is_asked_about_and_can_be_restored(
    collect: Collect, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mended = course / "submitted" / "jane" / ONE / f"{ONE}.ipynb"
    mended.parent.mkdir(parents=True)
    mended.write_bytes(notebook("mended"))
    archive = download(tmp_path, {f"jane_7_600_{ONE}.ipynb": notebook("jane")})
    for _ in range(2):
        status, said, _ = collect(archive)
        assert status == 1 and submitted(course) == {"jane": "mended"}
        assert "in submitted/: put there by hand or by another tool, time unknown (file saved" in said
    assert collect(archive, "--keep")[0] == 0
    assert collect(archive)[0] == 0 and submitted(course) == {"jane": "mended"}
    (course / "hand-ins" / "which-counts.csv").unlink()
    assert collect(archive, "--replace")[0] == 0 and submitted(course) == {"jane": "jane"}
    assert main.main(["restore"]) == 0
    assert f"jane  {ONE}  20" in capsys.readouterr().out
    assert main.main(["restore", "jane", ONE]) == 0 and submitted(course) == {"jane": "mended"}
    assert main.main(["restore", "jane", ONE]) == 0 and submitted(course) == {"jane": "jane"}
    assert main.main(["restore", "bo", ONE]) == NOT_DONE


def test_wrong_arguments_give_an_error(collect: Collect, course: Path, tmp_path: Path) -> None:
    assert f"{tmp_path / 'nowhere.zip'} does not exist" in collect(tmp_path / "nowhere.zip")[2]
    archive = download(tmp_path, {f"jane_7_600_{ONE}.ipynb": notebook("jane")})
    assert "no lesson 9" in collect(archive, "--lesson", "9")[2]
    (tmp_path / "damaged.zip").write_bytes(b"PK")
    status, said, _ = collect(tmp_path / "damaged.zip", "--lesson", ONE)
    assert status == 1 and "the download cannot be read" in said
    (course / "student-ids.csv").write_text("nonsense\n")
    assert "has no column" in collect(archive)[2]
    assert submitted(course) == {}


def test_an_exported_python_file_is_collected_and_graded(collect: Collect, course: Path, tmp_path: Path) -> None:
    release = nbformat.read(course / "release" / ONE / f"{ONE}.ipynb", as_version=4)
    solved = write_answers(release, correct_answers(load_lesson(course / "grader_tests" / ONE), 0))
    text = PythonExporter().from_notebook_node(solved)[0]
    status, said, _ = collect(download(tmp_path, {moodle("Jane", 1, f"{ONE}.py"): text.encode()}))
    assert status == 0 and "1 repaired" in said
    # In a process of its own, because this one has judges that are confined
    command = [sys.executable, "-m", "grading", "grade", ONE, "--unsandboxed"]
    subprocess.run(command, cwd=course, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True)
    assert Course(course).scores()["jane", ONE] == (5.0, 5.0)
    assert [grade.verdict.sandboxed for grade in Course(course).verdicts(ONE)] == [False]


@pytest.mark.full
def test_nothing_is_collected_while_the_course_is_being_graded(course: Path, tmp_path: Path) -> None:
    archive = download(tmp_path, {f"jane_7_600_{ONE}.ipynb": notebook("jane")})
    command = [sys.executable, "-m", "grading", "collect", str(archive)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with exclusive(course):
        done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and "is already being graded" in done.stderr
    assert submitted(course) == {}
