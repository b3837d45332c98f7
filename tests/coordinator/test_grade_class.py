"""Steps over a class: they repeat no work, and a broken submission stops nothing."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from grading.cli import main
from grading.coordinator import demo
from grading.coordinator.converters import autograde, generate_feedback, stale_reasons
from grading.coordinator.demo import demonstrate
from grading.coordinator.demo_class import hand_in
from grading.coordinator.due_dates import due_dates
from grading.coordinator.grade_class import grade_class
from grading.coordinator.release import release_lessons
from grading.coordinator.write_feedback import write_feedback
from grading.course import Course
from grading.course_dir.seeds import seed_id
from grading.errors import CourseError, StepFailed

from ..support.class_helpers import RecordingConsole, file_contents, grading_results, set_deadline, start_command
from ..support.course_builder import TINY_LESSONS, build_course, solved_notebook

ONE, TWO = TINY_LESSONS


def test_release_makes_missing_and_outdated_notebooks_and_names_them(course):
    console = RecordingConsole()
    release_lessons(Course(course), [], console)
    assert console.text.splitlines() == [f"{lesson}: release is up to date" for lesson in TINY_LESSONS]

    text = course / "source" / f"{TWO}.py"
    text.write_text(text.read_text().replace("# # To halve", "# # To halve\n#\n# Newly told."))
    shutil.rmtree(course / "release" / ONE)
    console = RecordingConsole()
    release_lessons(Course(course), [TWO], console)
    assert console.text == f"{TWO}: released as release/{TWO}/{TWO}.ipynb\n"
    assert "Newly told." in (course / "release" / TWO / f"{TWO}.ipynb").read_text()
    assert not (course / "release" / ONE).exists()


def test_a_lesson_that_is_released_but_not_in_the_gradebook_is_released_again(course):
    (course / "gradebook.db").unlink()
    console = RecordingConsole()
    release_lessons(Course(course), [ONE], console)
    assert "released as" in console.text


@pytest.mark.parametrize("act", [release_lessons, grade_class, write_feedback])
def test_an_unknown_lesson_gives_an_error_that_lists_the_lessons(course, act):
    with pytest.raises(CourseError, match=r"no lesson 09_none; the lessons are 01_double, 02_halve"):
        act(Course(course), ["09_none"], RecordingConsole())


def test_a_folder_of_no_lesson_is_named_with_the_most_similar_lesson(course):
    for folder in ("01_Double", "notes", ".ipynb_checkpoints"):
        (course / "submitted" / "ada" / folder).mkdir(parents=True)
    console = RecordingConsole()
    assert not grade_class(Course(course), [], console).failed
    assert console.text.strip().splitlines() == [
        "submitted/ada/01_Double: not graded, because there is no lesson 01_Double; if you mean 01_double, rename the "
        "folder",
        "submitted/ada/notes: not graded, because there is no lesson notes",
    ]


@pytest.mark.parametrize("student", ["x(1)[2]", "DOM\\jdoe", "x&y<b>"])
def test_an_id_that_nbgrader_cannot_handle_is_refused_by_every_command(course, student):
    hand_in(course, ONE, student, solved_notebook(course, ONE))
    failed = grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert list(failed) == [(ONE, student)]
    assert "rename the folder in submitted/" in failed[ONE, student]
    for act in (autograde, generate_feedback):
        with pytest.raises(StepFailed, match="nbgrader does not accept a student id with"):
            act(Course(course), ONE, student)
    assert not Course(course).scores()


@pytest.mark.full
def test_a_class_is_graded_once_and_again_for_a_newer_submission(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    hand_in(course, ONE, "bob", solved_notebook(course, ONE, double="def double(x):\n    return x * x"))
    console = RecordingConsole()
    assert not grade_class(Course(course), [ONE], console).failed
    assert "01_double: 2 graded" in console.text
    assert Course(course).scores() == {("ada", ONE): (5, 5), ("bob", ONE): (0, 5)}

    graded = course / "autograded" / "bob" / ONE / f"{ONE}.ipynb"
    before = graded.read_bytes()
    console = RecordingConsole()
    assert not grade_class(Course(course), [], console).failed
    assert "01_double: 2 graded before and unchanged" in console.text
    assert graded.read_bytes() == before

    hand_in(course, ONE, "bob", solved_notebook(course, ONE))
    console = RecordingConsole()
    assert not grade_class(Course(course), [], console).failed
    assert "01_double: 1 graded before and unchanged" in console.text
    assert Course(course).scores()["bob", ONE] == (5, 5)


@pytest.mark.full("grades or releases a class twice")
def test_a_changed_submission_without_a_timestamp_is_graded_again(course):
    path = course / "submitted" / "ada" / ONE / f"{ONE}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(solved_notebook(course, ONE, double="def double(x):\n    return x * x")))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert Course(course).scores()["ada", ONE] == (0, 5)
    path.write_text(nbformat.writes(solved_notebook(course, ONE)))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert Course(course).scores()["ada", ONE] == (5, 5)


def of_files(root: Path) -> dict[Path, int]:
    """The modification time of each graded notebook."""
    return {path: path.stat().st_mtime_ns for path in (root / "autograded").rglob("*.ipynb")}


@pytest.mark.full
def test_inputs_decide_whether_a_grade_is_computed_again_and_file_times_do_not(course):
    for student in ("ada", "bob"):
        hand_in(course, ONE, student, solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    before = of_files(course)
    for path in (course / "submitted").rglob("*.ipynb"):  # collected again, with the same content
        path.write_bytes(path.read_bytes())
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert of_files(course) == before
    assert not grade_class(Course(course), [ONE], RecordingConsole(), again=True).failed
    assert not set(of_files(course).items()) & set(before.items())

    before = of_files(course)
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.JudgedExecute.seed = 7\n")
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert {found.verdict.seed for found in Course(course).verdicts()} == {seed_id("7")}
    assert not set(of_files(course).items()) & set(before.items())


@pytest.mark.full("grades or releases a class twice")
def test_a_changed_grader_is_noticed(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    contract = course / "grader_tests" / ONE / "double" / "contract.py"
    contract.write_text(contract.read_text().replace("return (2 * x)", "return x * x"))
    assert stale_reasons(Course(course), ONE, "ada") == ["the graders changed"]
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert Course(course).scores()["ada", ONE][0] < 5


def test_another_file_in_the_release_makes_a_grade_stale_and_is_named(course_of_three):
    assert stale_reasons(Course(course_of_three), ONE, "ada") == []
    (course_of_three / "release" / ONE / "words.txt").write_text("one two")
    assert stale_reasons(Course(course_of_three), ONE, "ada") == ["the released lesson changed"]


@pytest.mark.full
def test_a_course_with_replaced_folders_is_graded_by_their_current_content(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    for name in ("grader_tests", "source", "release"):
        (course / name).rename(course / "before")
        shutil.copytree(course / "before", course / name)  # with the old times
        shutil.rmtree(course / "before")
    assert not grade_class(Course(course), [ONE], RecordingConsole(), again=True).failed
    assert Course(course).scores() == {("ada", ONE): (5, 5)}


@pytest.mark.full("grades or releases a class twice")
def test_a_lost_or_changed_graded_notebook_is_made_again(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    graded = course / "autograded" / "ada" / ONE / f"{ONE}.ipynb"
    whole = graded.read_bytes()
    graded.chmod(0o644)
    graded.write_bytes(whole[:-10])
    assert write_feedback(Course(course), [ONE], RecordingConsole()) == 1
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert graded.read_bytes() != whole[:-10]
    assert write_feedback(Course(course), [ONE], RecordingConsole()) == 0


def test_a_broken_submission_is_reported_in_one_line_and_does_not_stop_the_others(course):
    for student in ("ada", "zoe"):
        hand_in(course, ONE, student, solved_notebook(course, ONE))
    for student, name in {"ben": "notes [draft].txt", "cem": "homework.ipynb"}.items():
        folder = course / "submitted" / student / ONE
        folder.mkdir(parents=True)
        (folder / name).write_text("{}")
    (course / "submitted" / "dan" / ONE).mkdir(parents=True)
    truncated = course / "submitted" / "eve" / ONE / f"{ONE}.ipynb"
    truncated.parent.mkdir(parents=True)
    truncated.write_text(json.dumps(solved_notebook(course, ONE))[:-300])
    console = RecordingConsole()
    assert len(grade_class(Course(course), [ONE], console).failed) == 2
    told = [line for line in console.text.splitlines() if line.startswith("✗")]
    assert told == [
        f"✗ {ONE}, ben: No {ONE}.ipynb was handed in, but notes [draft].txt. Hand in {ONE}.ipynb.",
        f"✗ {ONE}, dan: No {ONE}.ipynb was handed in. Hand in {ONE}.ipynb.",
    ]
    assert [line.split() for line in console.text.splitlines() if line.split()[:1] == [ONE]] == [
        [ONE, "4", "0", "2", "2"]
    ]
    assert Course(course).scores()["ada", ONE] == Course(course).scores()["zoe", ONE] == (5, 5)
    assert {g.verdict.status for g in Course(course).verdicts() if g.student in ("cem", "eve")} == {"needs a person"}
    assert Course(course).needs_manual_grading() == {("cem", ONE, "double"), ("eve", ONE, "double")}


def test_workers_and_nbgraders_own_command_write_the_same_grades_and_files(course, tmp_path):
    answers = {
        "right": {},
        "wrong": {"double": "def double(x):\n    return x * x"},
        "broken": {"double": "def double(x):\n    return ("},
        "loud": {"double": "print('\\n'.join(map(str, range(2000))))\ndef double(x):\n    return 2 * x"},
    }
    for student, given in answers.items():
        folder = course / "submitted" / student / ONE
        hand_in(course, ONE, student, solved_notebook(course, ONE, **given))
        (folder / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
        (folder / "notes.txt").write_text("mine")
        (folder / "page.html").write_text("<script>alert(1)</script>")
    truncated = course / "submitted" / "cut" / ONE / f"{ONE}.ipynb"
    truncated.parent.mkdir(parents=True)
    truncated.write_text(json.dumps(solved_notebook(course, ONE))[:-300])
    set_deadline(course, "2026-02-28")
    other = shutil.copytree(course, tmp_path / "other")

    assert not grade_class(Course(course), [ONE], RecordingConsole(), workers=2).failed
    for student in (*answers, "cut"):
        assert autograde(Course(other), ONE, student)
    assert grading_results(course) == grading_results(other)
    assert Course(course).scores()["right", ONE] == (0, 5)  # late
    assert not stale_reasons(Course(other), ONE, "right")


@pytest.mark.full("grades or releases a class twice")
def test_pages_written_in_parallel_equal_those_of_nbgraders_own_command(course, tmp_path):
    for number, answer in enumerate(("2 * x", "x * x", "x + x", "(")):
        student = f"student-{number}"
        hand_in(course, ONE, student, solved_notebook(course, ONE, double=f"def double(x):\n    return {answer}"))
        (course / "submitted" / student / ONE / "notes.txt").write_text(f"of {student}")
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    other = shutil.copytree(course, tmp_path / "other")
    console = RecordingConsole()
    assert write_feedback(Course(course), [ONE], console, workers=3) == 0
    assert f"{ONE}: 4 feedback" in console.text
    process = start_command(other, "nbgrader", "generate_feedback", ONE)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    pages = file_contents(course / "feedback")
    assert pages == file_contents(other / "feedback")
    assert len(pages) == 20  # of each submission a page, its time, its notes, and the two released files of data


@pytest.mark.full("grades or releases a class twice")
def test_failed_pages_are_reported_by_student_and_the_others_are_written(course):
    for number in range(5):
        hand_in(course, ONE, f"student-{number}", solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    for number in (3, 1):
        graded = course / "autograded" / f"student-{number}" / ONE / f"{ONE}.ipynb"
        graded.chmod(0o644)
        graded.write_text("{}")
    console = RecordingConsole()
    assert write_feedback(Course(course), [ONE], console, workers=2) == 2
    told = [line for line in console.text.splitlines() if line.startswith("✗")]
    assert [line.split(":")[0] for line in told] == [f"✗ {ONE}, student-{number}" for number in (1, 3)]
    assert all("grade it again" in line for line in told)
    assert len(list((course / "feedback").glob("*/*/*.html"))) == 3


def test_a_dry_run_lists_what_would_be_graded_and_why_and_changes_nothing(course):
    for student in ("ada", "bob"):
        hand_in(course, ONE, student, solved_notebook(course, ONE))
    grade_class(Course(course), [ONE], RecordingConsole(), students=["ada"])
    assert set(Course(course).scores()) == {("ada", ONE)}
    hand_in(course, ONE, "ada", solved_notebook(course, ONE, double="def double(x):\n    return x"))
    console, before, told = RecordingConsole(), grading_results(course), []
    grade_class(Course(course), [ONE], console, dry=True, report=told.append)
    assert [(one["student"], one["outcome"]) for one in told] == [("ada", "to be graded"), ("bob", "to be graded")]
    assert told[1]["why"] == "it was not graded yet"
    assert console.text.strip().splitlines() == [
        f"{ONE}, ada: to grade, because the submission changed and the time of submission changed",
        f"{ONE}, bob: to grade, because it was not graded yet",
        f"{ONE}: 2 to grade, 0 graded before and unchanged",
    ]
    assert grading_results(course) == before


def test_each_outcome_is_a_line_of_json_and_everything_else_goes_to_stderr(course_of_three, capfd):
    hand_in(course_of_three, ONE, "bob", solved_notebook(course_of_three, ONE))
    assert main.main(["grade", "--json"]) == 0
    told = capfd.readouterr()
    records = [json.loads(line) for line in told.out.splitlines()]
    lines = [record for record in records if record["record"] == "submission"]
    assert [(line["student"], line["outcome"]) for line in lines] == [
        ("bob", "to be graded"),
        ("ada", "graded before"),
        ("cem", "graded before"),
        ("bob", "graded"),
    ]
    assert {record["lesson"] for record in records} == {ONE}
    grades = {record["student"]: record["points"] for record in records if record["record"] == "grade"}
    assert grades == {"ada": 5, "bob": 5, "cem": 3}
    assert "the submission changed" in lines[-1]["why"]
    assert "1 graded" in told.err


@pytest.mark.full("grades or releases a class twice")
def test_an_unreleased_lesson_is_reported_once_and_the_others_are_graded(tmp_path):
    root = build_course(tmp_path / "course")
    release_lessons(Course(root), [TWO], RecordingConsole())
    for student in ("ada", "bob"):
        hand_in(root, TWO, student, solved_notebook(root, TWO))
        hand_in(root, ONE, student, solved_notebook(root, TWO))
    console = RecordingConsole()
    told = []
    assert len(grade_class(Course(root), [], console, report=told.append).failed) == 1
    assert console.text.count("run `grading release`") == 1
    outcomes = [(one["lesson"], one["student"], one["outcome"]) for one in told]
    assert outcomes[0] == (ONE, "", "not graded")
    assert sorted(outcomes[1:3]) == [(TWO, student, "to be graded") for student in ("ada", "bob")]
    assert sorted(outcomes[3:]) == [(TWO, student, "graded") for student in ("ada", "bob")]
    assert f"{ONE} is not released yet" in console.text
    assert Course(root).scores() == {("ada", TWO): (5, 5), ("bob", TWO): (5, 5)}
    release_lessons(Course(root), [ONE], RecordingConsole())
    hand_in(root, ONE, "bob", solved_notebook(root, ONE))
    assert not grade_class(Course(root), [], RecordingConsole()).failed
    assert Course(root).scores()["bob", ONE] == (5, 5)


@pytest.mark.full("grades or releases a class twice")
def test_the_demonstration_shows_one_page_first_and_reuses_its_work_the_second_time(tmp_path, monkeypatch, capsys):
    root = build_course(tmp_path / "course")
    console = RecordingConsole()
    assert demonstrate(Course(root), TINY_LESSONS, console) == 0
    assert console.text.count("9 sample submissions handed in") == 2
    first = root / "feedback" / "sample-fatou" / ONE / f"{ONE}.html"
    assert f": {first}\n" in console.text
    assert console.text.index("First graded page") < console.text.index(f"{ONE}: 8 graded")
    points = Course(root).scores()
    assert len(points) == 18
    assert points["sample-ada", ONE] == points["sample-ivo-colab", TWO] == points["sample-bela-late", ONE] == (5, 5)
    assert points["sample-dara-untouched", ONE] == (0, 5)
    assert points["sample-fatou", ONE][0] < 5
    assert {student for student, _, _ in Course(root).needs_manual_grading()} == {"sample-chen-cut-off"}
    for student, lesson in points:
        page = (root / "feedback" / student / lesson / f"{lesson}.html").read_text()
        assert "BEGIN HIDDEN" not in page
        assert ("1 day 6 hours" in page) == (student == "sample-bela-late")

    graded = {path: path.read_bytes() for path in (root / "autograded").rglob("*.ipynb")}
    console = RecordingConsole()
    assert demonstrate(Course(root), TINY_LESSONS, console) == 0
    for lesson in TINY_LESSONS:
        assert f"{lesson}: release is up to date" in console.text
        assert f"{lesson}: sample class reused" in console.text
        assert f"{lesson}: 9 graded before and unchanged" in console.text
    assert {path: path.read_bytes() for path in (root / "autograded").rglob("*.ipynb")} == graded
    assert Course(root).scores() == points

    monkeypatch.chdir(root)
    assert main.main(["demo"]) == 0
    told = capsys.readouterr().out
    assert TWO not in told
    assert first.as_posix() in told
    named = [Path(line.split()[0]) for line in told.partition("Open next:\n")[2].splitlines()]
    assert len(named) == 6
    assert all(path.is_file() for path in named)


def test_the_demonstration_grades_the_lessons_that_are_named_or_all(tmp_path, monkeypatch):
    root = build_course(tmp_path / "course")
    monkeypatch.chdir(root)
    asked: list[list[str]] = []
    monkeypatch.setattr("grading.coordinator.demo.demonstrate", lambda course, names, console: asked.append(names) or 0)
    for arguments in ([], [TWO], ["--all"]):
        assert main.main(["demo", *arguments]) == 0
    assert asked == [[ONE], [TWO], list(TINY_LESSONS)]
    assert main.main(["demo", TWO, "--all"]) == 2
    with pytest.raises(CourseError, match="no lesson to show"):
        demonstrate(Course(root), [], RecordingConsole())


def test_the_demonstration_sets_no_due_date_where_somebody_else_has_handed_in(course):
    console = RecordingConsole()
    hand_in(course, ONE, "jane", solved_notebook(course, ONE))
    assert demo.lesson_due(Course(course), ONE, console) < datetime.now(UTC)
    assert due_dates(Course(course)) == {}
    demo.lesson_due(Course(course), TWO, console)
    assert set(due_dates(Course(course))) == {TWO}
