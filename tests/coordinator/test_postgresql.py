"""A gradebook in a real PostgreSQL server, with one writer and with several."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Grade, Gradebook
from sqlalchemy import create_engine, inspect, text

from grading.coordinator.demo_class import hand_in
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.course_dir.lesson_base import keep_base, read_lessons
from grading.gradebook.grade_inputs import digest_of_file
from grading.gradebook.indexes import have_indexes
from grading.gradebook.store import stored_grades

from ..plugins.migrate.test_migrate_lessons import make_new_version
from ..support.class_helpers import SLOW_ANSWER, RecordingConsole, gradebook_url, grading_results, start_command
from ..support.course_builder import TINY_LESSONS, add_config, build_course, solved_notebook
from ..support.postgres_server import Server, server

ONE = TINY_LESSONS[0]
CHECK = "check_double"
WRONG = "def double(x):\n    return x * x"
LOSES = "def double(x):\n    return (2 * x).detach()"


@pytest.fixture(scope="module")
def database() -> Iterator[Server]:
    with server() as running:
        yield running


def database_config(url: str) -> str:
    return f"c.CourseDirectory.db_url = {url!r}"


@pytest.fixture
def course(database: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A course with its own database as gradebook and the first lesson released."""
    name = request.node.originalname
    return build_course(tmp_path / "course", config=database_config(database.url(name[:60])), release=[ONE])


def command(root: Path, program: str, *arguments: str) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run([Path(sys.executable).parent / program, *arguments], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def until(done: Callable[[], Any], process: Any) -> None:
    while not done():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)


@pytest.mark.full("grades a class over a PostgreSQL server")
def test_a_whole_term_gives_the_same_grades_as_sqlite(course, tmp_path):
    assert not (course / "gradebook.db").exists()
    lite = build_course(tmp_path / "lite", release=[ONE])
    command(course, "nbgrader", "generate_assignment", ONE, "--force")
    given: dict[str, dict[str, str]] = {
        "right": {},
        "wrong": {"double": WRONG},
        "partly": {"double": LOSES},
        "late": {},
    }
    for root in (course, lite):
        (root / ".grading-seed").write_text("5eed" * 8)
        for student, answers in given.items():
            hand_in(root, ONE, student, solved_notebook(root, ONE, **answers))
            (root / "submitted" / student / ONE / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
    assert not grade_class(Course(lite), [ONE], RecordingConsole()).failed
    command(course, "grading", "grade", "--students", "right", "wrong", "partly")
    command(course, "nbgrader", "autograde", ONE, "--student", "late")
    hand_in(course, ONE, "new", solved_notebook(course, ONE))
    assert Course(course).ungraded() == [("new", ONE)]
    command(course, "nbgrader", "export")
    command(course, "grading", "feedback")
    assert not (course / "gradebook.db").exists()
    ours, theirs = grading_results(course), grading_results(lite)
    assert ours["files"] == theirs["files"] and ours["kept"] == theirs["kept"]
    assert {who: row[1:] for who, row in ours["rows"].items()} == {who: row[1:] for who, row in theirs["rows"].items()}
    assert Course(course).scores() == {
        (s, ONE): (p, 5) for s, p in {"right": 5, "wrong": 0, "partly": 3, "late": 5}.items()
    }
    with (course / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        exported = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert exported == {"right": "5", "wrong": "0", "partly": "3", "late": "5"}
    assert len(list((course / "feedback").rglob("*.html"))) == 4
    assert "right" in command(course, "grading", "report", "--students")
    assert f"{ONE}: 4 graded before and unchanged" in command(course, "grading", "grade")
    assert Course(course).scores()["new", ONE] == (5, 5)


@pytest.mark.full("grades a class over a PostgreSQL server")
def test_points_given_by_hand_during_grading_are_not_lost(course):
    students = [f"student-{number}" for number in range(8)]
    for student in students:
        hand_in(course, ONE, student, solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    process = start_command(course, "grade", "--again")
    with Gradebook(gradebook_url(course), "attention") as gradebook:
        rounds = 0
        while process.poll() is None or not rounds:
            rounds += 1
            for number, student in enumerate(students):
                grade = gradebook.find_grade(CHECK, ONE, ONE, student)
                grade.manual_score, grade.needs_manual_grade = number / 2, False
                gradebook.find_comment("double", ONE, ONE, student).manual_comment = f"seen {rounds} times"
                gradebook.db.commit()
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert Course(course).scores() == {(student, ONE): (number / 2, 5) for number, student in enumerate(students)}
    with Gradebook(gradebook_url(course), "attention") as gradebook:
        for student in students:
            assert gradebook.find_grade(CHECK, ONE, ONE, student).auto_score == 5
            assert gradebook.find_comment("double", ONE, ONE, student).manual_comment == f"seen {rounds} times"


@pytest.mark.full
def test_a_grade_waits_while_another_is_written_and_is_complete(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    engine = create_engine(gradebook_url(course))
    said: list[Any] = []
    with engine.connect() as other:  # while another grade is written and a teacher gives points in it
        other.execute(text("UPDATE submitted_notebook SET late_submission_penalty = 1"))
        other.execute(text("UPDATE grade SET auto_score = 1, manual_score = 2, needs_manual_grade = false"))
        grading = threading.Thread(
            target=lambda: said.append(grade_class(Course(course), [ONE], RecordingConsole(), again=True))
        )
        grading.start()
        with engine.connect() as looking:
            waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            while not looking.execute(waits).scalar():
                assert grading.is_alive()
                time.sleep(0.05)
        other.commit()
    grading.join(900)
    engine.dispose()
    assert list(said[0].graded) == [(ONE, "ada")]
    with Gradebook(gradebook_url(course), "attention") as gradebook:
        grade = gradebook.find_grade(CHECK, ONE, ONE, "ada")
        assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (5, 2, True)
        assert gradebook.find_submission_notebook(ONE, ONE, "ada").late_submission_penalty is None


def test_an_index_created_by_another_process_at_the_same_time_is_accepted(course):
    with Gradebook(gradebook_url(course), "attention") as gradebook, gradebook.engine.connect() as theirs:
        names = [
            f"attention_{name}" for name in ("grades_of_notebook", "comments_of_notebook", "notebooks_of_submission")
        ]
        theirs.execute(text(f"drop index {', '.join(names)}"))
        theirs.commit()
        theirs.execute(text(f"create index {names[0]} on grade (notebook_id)"))
        ours = threading.Thread(target=have_indexes, args=(gradebook,))
        ours.start()
        while not theirs.execute(text("select count(*) from pg_locks where not granted")).scalar():
            assert ours.is_alive()
            time.sleep(0.05)
        theirs.commit()
        ours.join()
        there = [
            one["name"]
            for table in ("grade", "comment", "submitted_notebook")
            for one in inspect(gradebook.engine).get_indexes(table)
        ]
        assert set(names) <= set(there)


@pytest.mark.full("grades a class over a PostgreSQL server")
def test_two_graders_on_two_machines_leave_one_complete_grade_per_submission(course, tmp_path):
    other = shutil.copytree(course, tmp_path / "other")
    students = [f"student-{number}" for number in range(6)]
    for student in students:
        hand_in(course, ONE, student, solved_notebook(course, ONE))
        hand_in(other, ONE, student, solved_notebook(other, ONE, double=WRONG))
    both = [start_command(root, "grade", "--workers", "2") for root in (course, other)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    with Gradebook(gradebook_url(course), "attention") as gradebook:
        found = {one.student: one for one in stored_grades(gradebook, ONE)}
        assert gradebook.db.query(Grade).count() == len(students)
        points = {student: gradebook.find_grade(CHECK, ONE, ONE, student).auto_score for student in students}
    assert found.keys() == set(students)
    for student, one in found.items():
        (verdict,) = one.verdicts.values()
        root = course if verdict.earned else other
        assert points[student] == verdict.earned
        assert one.digest == digest_of_file(root / "autograded" / student / ONE / f"{ONE}.ipynb")
        assert one.made_of["submission"] == digest_of_file(root / "submitted" / student / ONE / f"{ONE}.ipynb")


@pytest.mark.full("grades a class over a PostgreSQL server")
def test_a_course_moves_to_a_new_version_and_writes_nothing_before_confirmation(course, tmp_path):
    new = make_new_version(tmp_path / "new")
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    hand_in(course, ONE, "bob", solved_notebook(course, ONE, double=LOSES))
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    keep_base(course, read_lessons(course))
    told = command(course, "grading", "migrate", str(new))
    assert "Out of date: 2 grades. With the current graders and settings: 1 higher, 0 lower, 1 the same." in told
    assert "Nothing has changed yet" in told
    assert Course(course).scores() == {("ada", ONE): (5, 5), ("bob", ONE): (3, 5)}
    assert "2 grades written" in command(course, "grading", "migrate", str(new), "--yes")
    assert Course(course).scores() == {("ada", ONE): (6, 6), ("bob", ONE): (3, 6)}
    assert not list(course.glob("**/gradebook.db"))


@pytest.mark.full("grades a class over a PostgreSQL server")
def test_a_stopped_server_gives_an_error_and_the_next_run_continues(course, database):
    for number in range(6):
        hand_in(course, ONE, f"student-{number}", solved_notebook(course, ONE, double=SLOW_ANSWER))
    process = start_command(course, "grade", "--workers", "2")
    until(lambda: Course(course).scores(), process)
    database.kill()
    try:
        said, _ = process.communicate()
    finally:
        database.start()
    assert process.returncode == 2
    assert "grading: grades cannot be written: " in said and "Traceback" not in said
    before = len(Course(course).scores())
    assert 0 < before < 6
    outcome = grade_class(Course(course), [ONE], RecordingConsole())
    assert (len(outcome.up_to_date), len(outcome.graded)) == (before, 6 - before)
    add_config(course, database_config("postgresql+psycopg://teacher@/nothing?host=/nowhere"))
    process = start_command(course, "grade")
    said, _ = process.communicate()
    assert process.returncode == 2 and "Traceback" not in said
    assert "grading: the gradebook cannot be opened: " in said
