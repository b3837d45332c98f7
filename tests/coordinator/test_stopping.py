"""Grading that is stopped, refused or out of disk space.

Messages are right, finished grades are kept, and the next run continues.
"""

from __future__ import annotations

import getpass
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy

from grading.coordinator.converters import autograde, stale_reasons
from grading.coordinator.demo_class import hand_in
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.errors import CannotWrite
from grading.gradebook.lock import exclusive

from ..support.class_helpers import SLOW_ANSWER, RecordingConsole, start_command
from ..support.course_builder import TINY_LESSONS, solved_notebook

ONE, _ = TINY_LESSONS


@pytest.mark.full("grades a class of slow answers")
@pytest.mark.parametrize(("command", "status"), [(["grade"], 2), (["nbgrader", "autograde", ONE], 1)])
def test_only_one_process_grades_a_course_at_a_time(course, command, status):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    with exclusive(course):
        second = start_command(course, *command)
        said, _ = second.communicate()
    assert second.returncode == status
    assert f"is already being graded, by {getpass.getuser()} on" in said
    assert f"(process {os.getpid()})" in said
    assert "Traceback" not in said
    assert not Course(course).scores()
    assert not grade_class(Course(course), [ONE], RecordingConsole()).failed
    assert set(Course(course).scores()) == {("ada", ONE)}


@pytest.mark.full
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_grading_reports_what_is_kept_and_continues_there(course, by):
    for number in range(6):
        hand_in(course, ONE, f"student-{number}", solved_notebook(course, ONE, double=SLOW_ANSWER))
    process = start_command(course, "grade", "--workers", "2")
    while not len(Course(course).scores()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(by)
    said, _ = process.communicate()
    assert process.returncode == 130
    kept = len(Course(course).scores())
    told = f"grading: stopped. {kept} of 6 submissions are graded and kept; run the same command again to continue."
    assert told in said
    assert "Traceback" not in said
    kept = len(Course(course).scores())
    assert 0 < kept < 6
    assert kept == len(list((course / "autograded").glob("*/*/*.ipynb")))
    outcome = grade_class(Course(course), [ONE], RecordingConsole())
    assert (len(outcome.up_to_date), len(outcome.graded)) == (kept, 6 - kept)


@pytest.mark.full("grades a class of slow answers")
def test_a_closed_terminal_does_not_stop_grading_under_nohup(course):
    for number in range(3):
        hand_in(course, ONE, f"student-{number}", solved_notebook(course, ONE, double=SLOW_ANSWER))
    process = start_command(course, "grade", "--workers", "2", ignored=signal.SIGHUP)
    while not len(Course(course).scores()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert len(Course(course).scores()) == 3


@pytest.mark.full("grades a class of slow answers")
def test_grades_that_cannot_be_written_give_an_error_and_none_is_stored(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))
    (course / "autograded").write_text("a file where the folder of graded notebooks must be")
    with pytest.raises(CannotWrite, match=r"grades cannot be written: .*autograded'\. 0 grades are written and kept"):
        grade_class(Course(course), [ONE], RecordingConsole())
    (course / "autograded").unlink()
    assert autograde(Course(course), ONE, "ada")  # by nbgrader's converter in this process
    assert Course(course).scores() == {("ada", ONE): (5, 5)}


@pytest.mark.full("grades a class of slow answers")
def test_a_full_disk_gives_a_one_sentence_error_and_written_grades_are_kept(course):
    for number in range(12):
        hand_in(course, ONE, f"student-{number:02}", solved_notebook(course, ONE))
    with sqlite3.connect(course / "gradebook.db") as gradebook:
        (pages,) = gradebook.execute("PRAGMA page_count").fetchone()
    with _most_pages(pages + 3), pytest.raises(CannotWrite, match="the disk is full") as told:
        grade_class(Course(course), [ONE], RecordingConsole())
    kept = len(Course(course).scores())
    assert 0 < kept < 12
    assert f"{kept} grades are written and kept" in str(told.value)
    outcome = grade_class(Course(course), [ONE], RecordingConsole())
    assert len(outcome.up_to_date) == kept and len(outcome.graded) == 12 - kept
    assert set(Course(course).scores().values()) == {(5, 5)}


@contextmanager
def _most_pages(number: int) -> Iterator[None]:
    """Limit the file's size in SQLite, instead of filling a disk."""

    def limit(connection: Any, _: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {number}")

    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", limit)
    try:
        yield
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "connect", limit)


def test_a_stop_signal_waits_until_a_grade_and_its_notebook_are_written(course):
    hand_in(course, ONE, "ada", solved_notebook(course, ONE))

    def stop(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO attention_grade"):
            signal.raise_signal(signal.SIGINT)

    sqlalchemy.event.listen(sqlalchemy.Engine, "after_cursor_execute", stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            grade_class(Course(course), [ONE], RecordingConsole())
    finally:
        sqlalchemy.event.remove(sqlalchemy.Engine, "after_cursor_execute", stop)
    assert Course(course).scores() == {("ada", ONE): (5, 5)}
    assert not stale_reasons(Course(course), ONE, "ada")
