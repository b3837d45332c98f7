"""`nbgrader export` with a row for each exercise, from a class that was really graded."""

from __future__ import annotations

import csv
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ExportApp

from grading.course_dir.seeds import seed_id

from ..support.nbgrader_runner import course_config
from ..support.repository import SEED
from ..support.two_exercise_course import CLASS, LESSON

EXPORTER = "grading.nbgrader_plugins.csv_exporters.ExercisesCsvExporter"


@pytest.fixture
def export(graded_course: Any, tmp_path: Path) -> Any:
    """export(*arguments) runs the command on a copy of the graded course: its rows, by (student, exercise)."""
    root = tmp_path / "course"
    shutil.copytree(graded_course.root, root, symlinks=True)

    def run(*arguments: str, destination: Path = tmp_path / "out.csv") -> dict[tuple[str, str], dict[str, str]]:
        config = course_config(root)
        config.ExportApp.plugin_class = EXPORTER
        app = ExportApp.instance(config=config)
        try:
            app.initialize([f"--to={destination}", *arguments])
            app.update_config(config)
            app.log.propagate = True
            app.log.setLevel(logging.INFO)
            app.start()
        finally:
            ExportApp.clear_instance()
        with destination.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        made = {(row["student"], row["exercise"]): row for row in rows}
        assert len(made) == len(rows)
        return made

    run.root = root  # type: ignore[attr-defined]
    run.db = f"sqlite:///{root}/gradebook.db"  # type: ignore[attr-defined]
    return run


def test_rows_contain_the_findings(export: Any) -> None:
    with Gradebook(export.db) as gradebook:
        gradebook.add_student("zoe", first_name="Zoë", last_name="=cmd()")
    rows = export()
    assert set(rows) == {(s, e) for s in (*CLASS, "zoe") for e in ("double", "halve")}
    right, wrong = rows["ada", "double"], rows["bob", "double"]
    assert (right["points"], right["max_points"], right["status"], right["mistake"]) == ("3", "3", "right", "")
    assert right["criteria"] == "values: 2/2; gradients: 1/1"
    assert (right["seed"], right["needs_a_person"]) == (seed_id(SEED), "no")
    assert right["sandboxed"] in ("yes", "no")
    assert (wrong["points"], wrong["status"], wrong["mistake"]) == ("0", "wrong", "squares")
    assert rows["dan", "halve"]["status"] == "not started"
    unreadable = rows["cleo", "halve"]
    assert (unreadable["points"], unreadable["status"], unreadable["needs_a_person"]) == ("", "needs a person", "yes")
    assert "cut off" in unreadable["reason"]
    absent = rows["zoe", "double"]
    assert (absent["points"], absent["max_points"], absent["status"]) == ("0", "3", "not handed in")
    assert absent["first_name"] == "Zoë"
    assert absent["last_name"] == "'=cmd()"  # no formula for a spreadsheet to run


def test_a_teachers_points_count(export: Any) -> None:
    with Gradebook(export.db) as gradebook:
        grade = gradebook.find_grade("check_halve", LESSON, LESSON, "cleo")
        grade.manual_score, grade.needs_manual_grade = 4.5, False
        gradebook.db.commit()
    open_ = export("--student=['cleo']")["cleo", "halve"]  # the other exercise still needs a person
    assert (open_["points"], open_["status"]) == ("", "graded by a person")
    row = export("--student=['cleo']", "--ExercisesCsvExporter.provisional=True")["cleo", "halve"]
    assert (row["points"], row["judged_points"], row["status"]) == ("4.5", "0", "graded by a person")
    assert row["needs_a_person"] == "no"


def test_grades_do_not_depend_on_files(export: Any) -> None:
    before = export()
    shutil.rmtree(export.root / "autograded")
    assert export() == before


def test_what_is_handed_in_but_not_graded_is_not_a_zero(export: Any) -> None:
    with Gradebook(export.db) as gradebook:
        gradebook.add_student("ivy")
        gradebook.add_submission(LESSON, "ivy")
    row = export("--student=['ivy']")["ivy", "double"]
    assert (row["points"], row["status"], row["needs_a_person"]) == ("", "not graded yet", "no")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--assignment=['03_thirds']", "the gradebook has no assignment 03_thirds; it has: 02_halves"),
        ("--student=['nobody', 'ada']", "the gradebook has no student nobody; it has: ada, ben, bob"),
    ],
)
def test_what_cannot_be_exported_is_said(
    export: Any, argument: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(SystemExit) as stopped:
        export(argument)
    assert stopped.value.code == 1
    assert message in caplog.text


def test_destination_that_cannot_be_written_is_said(
    export: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(SystemExit):
        export(destination=tmp_path / "nowhere" / "out.csv")
    assert "Nothing was exported: [Errno 2] No such file or directory" in caplog.text
