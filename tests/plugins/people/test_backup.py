"""Back up a course while it is graded, restore it, and grade the rest."""

from __future__ import annotations

import stat
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from grading.cli import main
from grading.coordinator.grade_class import grade_class
from grading.course import Course
from grading.errors import StepFailed
from grading.gradebook.grade_inputs import digest_of_file
from grading.gradebook.history import HistoryRow
from grading.gradebook.store import stored_grades
from grading.plugins.people.backup import GRADEBOOK, back_up, verify

from ...support.class_helpers import SLOW_ANSWER, start_command
from ...support.course_builder import TINY_LESSONS, add_config, build_course, submit
from ...support.postgres_server import server

ONE = TINY_LESSONS[0]
STUDENTS = [f"student-{number}" for number in range(5)]
QUIET = Console(quiet=True)


def grades_of(root: Path) -> dict[str, str]:
    """Check each grade's verdicts and notebook; returns the digests of the notebooks."""
    with Course(root).gradebook() as gradebook:
        grades = list(stored_grades(gradebook))
    for grade in grades:
        assert grade.verdicts.keys() == {"check_double"}
        assert digest_of_file(root / "autograded" / grade.student / ONE / f"{ONE}.ipynb") == grade.digest
    return {grade.student: grade.digest for grade in grades}


def back_up_while_grading(root: Path, to: Path) -> int:
    """Start grading, back up after the first grade, and let the grading finish.

    Returns the number of grades in the backup.
    """
    process = start_command(root, "grade", "--workers", "1")
    while not Course(root).scores():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    found = back_up(Course(root), to)
    assert process.poll() is None, "grading was over before the backup was"
    assert found.wrong == () and 0 < found.grades < len(STUDENTS) and found.submissions == len(STUDENTS)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return found.grades


@pytest.mark.full
def test_a_backup_made_during_grading_is_complete_and_can_be_graded_to_the_end(tmp_path, capsys):
    root = build_course(tmp_path / "course", config="c.JudgedExecute.unsandboxed = True", release=[ONE])
    for student in STUDENTS:
        submit(root, ONE, student, double=SLOW_ANSWER)
    (root / "submitted" / STUDENTS[0] / "link").symlink_to("/etc")
    backup = tmp_path / "backup.tar.gz"
    count = back_up_while_grading(root, backup)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert main.main(["restore-backup", str(backup)]) == 0
    assert f"{count} grade" in capsys.readouterr().out
    restored = tmp_path / "restored"
    assert main.main(["restore-backup", str(backup), str(restored)]) == 0
    assert len(grades_of(restored)) == count
    assert (restored / ".grading-seed").read_text() == (root / ".grading-seed").read_text()
    outcome = grade_class(Course(restored), [ONE], QUIET)
    assert (len(outcome.up_to_date), len(outcome.graded), outcome.failed) == (count, len(STUDENTS) - count, {})
    assert Course(restored).scores() == Course(root).scores()
    assert main.main(["restore-backup", str(backup), str(restored)]) != 0
    assert "nothing was written, because" in capsys.readouterr().err


def test_an_incomplete_backup_is_reported(course_of_three, tmp_path, capsys):
    (course_of_three / "backup-old.tar.gz").write_bytes(b"an earlier one")
    (course_of_three / "submitted" / "backup-joe" / ONE).mkdir(parents=True)
    (course_of_three / "submitted" / "backup-joe" / ONE / "notes.txt").write_text("x")
    notebook = course_of_three / "autograded" / "ada" / ONE / f"{ONE}.ipynb"
    assert main.main(["backup", "--to", str(tmp_path / "whole.tar.gz")]) == 0
    assert "the secret seed" in capsys.readouterr().out
    with tarfile.open(tmp_path / "whole.tar.gz") as archive:
        names = archive.getnames()
    assert "./backup-old.tar.gz" not in names and f"./submitted/backup-joe/{ONE}/notes.txt" in names
    notebook.write_text("changed")
    assert main.main(["backup", "--to", str(tmp_path / "changed.tar.gz")]) == 1
    assert f"autograded/ada/{ONE}/{ONE}.ipynb is not the notebook of its grade" in capsys.readouterr().err
    with pytest.raises(StepFailed, match="already exists"):
        back_up(Course(course_of_three), tmp_path / "whole.tar.gz")
    whole = (tmp_path / "whole.tar.gz").read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"PK"):
        (tmp_path / "cut.tar.gz").write_bytes(content)
        with pytest.raises(StepFailed, match="cannot be read as a backup"):
            verify(tmp_path / "cut.tar.gz")


@pytest.mark.full("grades a class over a PostgreSQL server")
def test_a_gradebook_on_a_server_is_backed_up_and_loaded_into_an_empty_database(tmp_path, capsys):
    with server() as database:
        unsandboxed = "c.JudgedExecute.unsandboxed = True\nc.CourseDirectory.course_id = 'attention'"
        config = f"{unsandboxed}\nc.CourseDirectory.db_url = {database.url('first')!r}"
        root = build_course(tmp_path / "course", config=config, release=[ONE])
        for student in STUDENTS:
            submit(root, ONE, student, double=SLOW_ANSWER)
        count = back_up_while_grading(root, tmp_path / "backup.tar.gz")
        restored = tmp_path / "restored"
        assert main.main(["restore-backup", str(tmp_path / "backup.tar.gz"), str(restored)]) == 1
        assert "names another database, which may be the one in use" in capsys.readouterr().err
        with Gradebook(f"sqlite:///{restored / GRADEBOOK}") as gradebook:
            assert len(list(stored_grades(gradebook))) == count
        assert main.main(["restore-backup", str(tmp_path / "backup.tar.gz"), str(tmp_path / "full"), "--load"]) != 0
        assert "the database is not empty" in capsys.readouterr().err
        add_config(restored, f"c.CourseDirectory.db_url = {database.url('second')!r}")
        again = tmp_path / "again.tar.gz"
        subprocess.run(["tar", "-czf", again, "-C", restored, "."], check=True)
        assert main.main(["restore-backup", str(again), str(tmp_path / "loaded"), "--load"]) == 0
        loaded = tmp_path / "loaded"
        assert len(grades_of(loaded)) == count
        assert not grade_class(Course(loaded), [ONE], QUIET).failed
        assert Course(loaded).scores() == Course(root).scores()
        submit(loaded, ONE, STUDENTS[0], double="def double(x):\n    return x * x")
        assert not grade_class(Course(loaded), [ONE], QUIET).failed
        with Course(loaded).gradebook() as gradebook:
            assert gradebook.db.query(HistoryRow).count() == 1
