"""Export and delete the data about one person, with SQLite and PostgreSQL."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console
from sqlalchemy import MetaData, select, text

from grading.cli import main
from grading.coordinator.grade_class import grade_class
from grading.coordinator.write_feedback import write_feedback
from grading.course import Course
from grading.gradebook.accommodations import Accommodation, grant
from grading.gradebook.history import past_grades
from grading.plugins.lms.collect import collect

from ...support.course_builder import TINY_LESSONS, build_course, submit
from ...support.lms_downloads import notebook
from ...support.postgres_server import Server, server

pytestmark = pytest.mark.usefixtures("sandboxed")

ONE = TINY_LESSONS[0]
WHO, OTHER = "zoe_zimmer", "ada"
TABLES = {"student", "submitted_assignment", "submitted_notebook", "grade", "comment"}
OURS = {"attention_grade", "attention_history", "attention_leave", "attention_late", "somebody_elses"}


@pytest.fixture(scope="module")
def database() -> Iterator[Server]:
    with server() as running:
        yield running


@pytest.fixture
def course(request: pytest.FixtureRequest, build_course_once: Callable[..., Path], fresh_copy: Callable[..., Path]):
    """A course with two students, one of whom has a row in every table."""
    if getattr(request, "param", "sqlite") == "postgresql":
        url = request.getfixturevalue("database").url("people")
        return build_people(request.getfixturevalue("tmp_path") / "course", f"c.CourseDirectory.db_url = {url!r}")
    return fresh_copy(build_course_once("people", build_people))


def build_people(root: Path, config: str = "") -> Path:
    quiet = Console(quiet=True)
    late = "c.LatePolicy.policy = '10% a day'\n"
    late += "c.CourseDirectory.course_id = 'attention'\n"
    build_course(root, config=late + config, release=[ONE])
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with Course(root).gradebook() as gradebook:
        gradebook.update_or_create_student(WHO, first_name="Zoe", last_name="Zimmer", email="zz@example.org")
        gradebook.update_or_create_student(OTHER, first_name="Ada", last_name="Ames")
        gradebook.update_or_create_assignment(ONE, duedate="2026-01-01 12:00:00 UTC")
        grant(gradebook, Accommodation(ONE, WHO, timedelta(hours=1), why="ill"))
        with gradebook.engine.begin() as connection:  # a table unknown to this version
            connection.execute(text("CREATE TABLE somebody_elses (nr INTEGER PRIMARY KEY, about VARCHAR(32))"))
    for student in (WHO, OTHER):
        submit(root, ONE, student)
    assert not grade_class(Course(root), [ONE], quiet).failed
    download = root.parent / f"download-{root.name}"
    (download / WHO).mkdir(parents=True)
    (download / WHO / f"{ONE}.ipynb").write_bytes((root / "release" / ONE / f"{ONE}.ipynb").read_bytes())
    (download / f"{ONE} (1).ipynb").write_bytes(notebook("whose?"))
    assert collect(Course(root), [download], ONE, quiet)[0].failed
    collect(Course(root), [download], ONE, quiet, undecided="replace")
    (download / WHO / f"{ONE}.ipynb").write_bytes(notebook("another"))
    (root / "submitted" / WHO / ONE / f"{ONE}.ipynb").chmod(0o600)
    assert not grade_class(Course(root), [ONE], quiet).failed
    assert not write_feedback(Course(root), [ONE], quiet)
    identities = root / "student-ids.csv"
    rows = f'{WHO},moodle,7,Zoe Zimmer,by the name\r\n{OTHER} {WHO},moodle,8,"a, group",\r\n'
    identities.write_bytes(identities.read_bytes() + rows.encode())
    (root / "grades.csv").write_text(f'student_id,score\n{WHO},3\n{OTHER},"4\n5"\n')
    shutil.copytree(root / "autograded", root / "copy" / "autograded")
    (root / ".nbgrader.log").write_text(f"submitted/{WHO}/{ONE}\nsubmitted/{OTHER}/{ONE}\n")
    with Course(root).gradebook() as gradebook, gradebook.engine.begin() as connection:
        assert [grade.student for grade in past_grades(gradebook)] == [WHO]
        notebook_id = gradebook.find_submission_notebook(ONE, ONE, WHO).id
        connection.execute(text(f"INSERT INTO somebody_elses VALUES (1, '{notebook_id}')"))
    return root


def everything(gradebook: Gradebook) -> str:
    """The text of every column of every table."""
    tables = MetaData()
    with gradebook.engine.connect() as connection:
        tables.reflect(connection)
        return "\n".join(str(row) for table in tables.sorted_tables for row in connection.execute(select(table)))


def grep(word: str, root: Path) -> list[str]:
    found = subprocess.run(["grep", "-rlaF", word, str(root)], capture_output=True, text=True)
    return found.stdout.split() + [str(path) for path in root.rglob("*") if word in path.name]


def test_everything_about_a_person_is_exported(course, tmp_path, capsys):
    out = tmp_path / "out.zip"
    assert main.main(["export-student", WHO, "--to", str(out), "--course", str(course)]) == 0
    said = capsys.readouterr()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "learning platform" in said.err and "submitted/zoe_zimmer/" in said.out
    with zipfile.ZipFile(out) as archive:
        about, names = json.loads(archive.read("about.json")), archive.namelist()
        assert OTHER in archive.read("about.json").decode(), "the row of the group's hand-in"
    assert about["gradebook"].keys() == TABLES | OURS
    assert about["gradebook"]["student"][0]["email"] == "zz@example.org"
    assert about["gradebook"]["attention_leave"][0]["why"] == "ill"
    assert about["gradebook"]["attention_grade"][0]["verdicts"]["check_double"]["exercise"] == "double"
    assert len(about["tables"]["student-ids.csv"]) == 2 and len(about["tables"]["grades.csv"]) == 1
    for place in ("submitted", "autograded", "feedback"):
        assert any(name.startswith(f"{place}/{WHO}/{ONE}/") for name in names), place
    assert any(name.startswith(f"hand-ins/replaced/{WHO}/") for name in names)
    assert not any(f"/{OTHER}/" in name for name in names)
    assert main.main(["export-student", "zoe_zimer", "--course", str(course)]) != 0
    assert f"did you mean {WHO}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "course",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.full("grades a class over a PostgreSQL server"))],
    indirect=True,
)
def test_forgetting_a_person_removes_all_their_data_and_no_other(course, capsys):
    before = Course(course).scores()[OTHER, ONE]
    arguments = ["forget", WHO, "--course", str(course)]
    assert main.main(arguments) == 0
    assert "Nothing has changed yet" in capsys.readouterr().out
    assert grep(WHO, course), "nothing was removed yet"
    assert main.main([*arguments, "--yes"]) == 0
    said = capsys.readouterr()
    assert "deleted from the course" in said.out and "learning platform" in said.err
    assert grep(WHO, course) == []
    assert grep("zz@example.org", course) == []
    with Course(course).gradebook() as gradebook:
        assert WHO not in everything(gradebook)
        assert "somebody_elses" in table_names(gradebook) and "ill" not in everything(gradebook).split("'")
        assert [student.id for student in gradebook.students] == [OTHER]
    assert Course(course).scores() == {(OTHER, ONE): before}
    assert (course / "grades.csv").read_text() == f'student_id,score\n{OTHER},"4\n5"\n'
    ids = (course / "student-ids.csv").read_text(encoding="utf-8-sig")
    assert f'{OTHER},moodle,8,"a, group",' in ids and "Zoe Zimmer" not in ids and f"{ONE} (1).ipynb" in ids
    assert (course / "hand-ins" / "which-counts.csv").exists()
    assert [path.name for path in (course / "copy" / "autograded").iterdir()] == [OTHER]
    assert not grade_class(Course(course), [ONE], Console(quiet=True)).graded
    assert main.main([*arguments, "--yes"]) != 0
    assert f"the course holds nothing about {WHO}" in capsys.readouterr().err


def table_names(gradebook: Gradebook) -> set[str]:
    tables = MetaData()
    with gradebook.engine.connect() as connection:
        tables.reflect(connection)
    return set(tables.tables)


@pytest.mark.full
def test_data_that_also_concerns_others_is_named_and_kept(course, capsys):
    (course / "class.html").write_text(f"<td>{WHO}</td>")
    with Course(course).gradebook() as gradebook:
        gradebook.find_comment("double", ONE, ONE, OTHER).manual_comment = f"Did you write this with {WHO}?"
        gradebook.db.commit()
    assert main.main(["forget", WHO, "--course", str(course), "--yes"]) == 1
    said = capsys.readouterr().err
    assert "class.html" in said and "comment.manual_comment, in 1 row about others" in said
    assert {Path(path).name for path in grep(WHO, course)} == {"class.html", "gradebook.db"}
