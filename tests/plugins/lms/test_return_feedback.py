"""Return grades and feedback: zips for an LMS, points to Canvas, wide tables."""

from __future__ import annotations

import csv
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ExportApp
from rich.console import Console

from course import outline
from grading.cli import main
from grading.cli.arguments import NEEDS_A_PERSON
from grading.coordinator.grade_class import grade_class
from grading.course import Course

from ...support.canvas_server import TOKEN, FakeCanvas, canvas
from ...support.course_builder import TINY_LESSONS
from ...support.html_pages import Elements

pytestmark = [
    pytest.mark.filterwarnings("ignore:Canvas may respond unexpectedly:UserWarning"),  # to HTTP on this machine
]

ONE = TINY_LESSONS[0]
USERS = [
    {"id": 501, "name": "Lovelace, Ada", "login_id": "alovelace"},
    {"id": 502, "name": "Bob", "login_id": "bob.b"},
    {"id": 503, "name": "Ünal, Cem", "login_id": "cem"},
    {"id": 504, "name": "New, Zoe", "login_id": "zoe"},
    {"id": 505, "name": "Excused, Eve", "login_id": "eve"},
]
ASSIGNMENTS = [{"id": 91, "name": "01 Double", "points_possible": 5.0}, {"id": 92, "name": "02 Halve"}]


@pytest.fixture
def course(course_of_three: Path) -> Path:
    """The class with Canvas's numbers, and eve, who is excused without a submission."""
    with Gradebook(f"sqlite:///{course_of_three}/gradebook.db", "attention") as gradebook:
        for number, student in enumerate(("ada", "bob", "cem", "dan", "eve"), 501):
            gradebook.update_or_create_student(student, lms_user_id=str(number if student != "dan" else 599))
    assert main.main(["excuse", ONE, "eve", "--why", "ill"]) == 0
    return course_of_three


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCanvas]:
    monkeypatch.setenv("CANVAS_API_TOKEN", TOKEN)
    with canvas(USERS, ASSIGNMENTS) as made:
        yield made


def push(there: FakeCanvas, *more: str) -> int:
    return main.main(["push", "canvas", ONE, "--url", there.url, "--canvas-course", "7", *more])


def test_nothing_is_sent_to_canvas_before_the_table_is_confirmed(course, there, capsys):
    there.scores = {502: 0.0, 503: 1.0}
    assert push(there) == 0
    told = capsys.readouterr().out
    assert "01 Double, by id: 3 to send, 1 unchanged" in told
    assert [line.split() for line in told.splitlines() if "(50" in line] == [
        ["ada", "Lovelace,", "Ada", "(501)", "–", "5"],
        ["cem", "Ünal,", "Cem", "(503)", "1", "3"],
        ["eve", "Excused,", "Eve", "(505)", "–", "excused"],
    ]
    assert "in the Canvas course, but without points; left unchanged: New, Zoe" in told.splitlines()
    assert "Nothing has changed yet" in told
    assert there.posted == []

    assert push(there, "--yes") == 0
    assert "3 grades sent and confirmed by Canvas" in capsys.readouterr().out
    assert there.posted == [
        {"grade_data[501][posted_grade]": "5", "grade_data[503][posted_grade]": "3", "grade_data[505][excuse]": "true"}
    ]
    assert there.scores == {501: 5.0, 502: 0.0, 503: 3.0}
    assert push(there, "--yes") == 0
    assert "0 to send, 4 unchanged" in capsys.readouterr().out
    assert len(there.posted) == 1


def test_points_that_canvas_changes_are_reported(course, there, capsys):
    there.takes_off = 1.0
    assert push(there, "--yes") == 1
    told = capsys.readouterr().out
    assert "ada: sent 5, but Canvas shows 4. Its own late policy may take points off." in told


@pytest.mark.quick_cases("more0-*", "more2-*")
@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--assignment", "17"], "Canvas: "),
        (["--assignment", "91", "--canvas-course", "8"], "Canvas: "),
        (["--url", "http://canvas.example.edu"], "only to an address that begins with https://"),
        (["--by", "email"], ""),
    ],
)
def test_a_target_that_canvas_does_not_have_gives_an_error_and_nothing_is_sent(course, there, capsys, more, why):
    assert push(there, *more, "--yes") == (2 if why else 0)
    said = capsys.readouterr()
    assert why in said.err
    assert "Traceback" not in said.err
    assert there.posted == []


def test_a_missing_and_a_wrong_token_give_an_error(course, there, capsys, monkeypatch):
    monkeypatch.setenv("CANVAS_API_TOKEN", "another")
    assert push(there, "--yes") == 2
    assert "Canvas: " in capsys.readouterr().err
    monkeypatch.delenv("CANVAS_API_TOKEN")
    assert push(there, "--yes") == 2
    assert "set CANVAS_API_TOKEN to it" in capsys.readouterr().err


def test_a_different_maximum_in_canvas_gives_an_error(course, there, capsys):
    there.assignments = [{"id": 91, "name": "01 Double", "points_possible": 100.0}]
    assert push(there, "--yes") == 2
    assert "the assignment '01 Double' has 100 points in Canvas, but the lesson has 5" in capsys.readouterr().err
    assert there.posted == []


def download(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return path


def test_feedback_files_have_the_names_from_canvas(course, tmp_path, capsys):
    came = download(
        tmp_path / "submissions.zip",
        f"lovelaceada_501_9001_{ONE}.ipynb",
        f"bob_LATE_502_9002_{ONE}-1.ipynb",
        f"bob_LATE_502_9007_{ONE}-2.ipynb",
        f"dand_599_9003_{ONE}.ipynb",
        f"stranger_777_9004_{ONE}.ipynb",
    )
    out = tmp_path / "back.zip"
    assert main.main(["feedback-zip", ONE, str(came), "--out", str(out)]) == 1, "dan and the stranger need a person"
    told = capsys.readouterr().out
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == [f"bob_LATE_502_9007_{ONE}.html", f"lovelaceada_501_9001_{ONE}.html"]
        assert b"0 of 5" in archive.read(f"bob_LATE_502_9007_{ONE}.html").replace(b"</b>", b"")
    assert "left out: dan has no feedback: the submission is not graded" in told
    assert f"no student matches stranger_777_9004_{ONE}.ipynb" in told
    assert "not in the download: cem" in told
    assert not (course / "student-ids.csv").exists()


def test_a_page_that_asks_for_another_file_is_packed(course, tmp_path, capsys):
    for student, content in {"ada": "", "cem": "{"}.items():
        (course / "submitted" / student / ONE / f"{ONE}.ipynb").write_text(content)
    shutil.rmtree(course / "submitted" / "bob")
    assert not grade_class(Course(course), [ONE], Console(quiet=True)).failed
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        gradebook.find_grade("check_double", ONE, ONE, "bob").needs_manual_grade = True
        gradebook.db.commit()
    names = [f"{who}_{number}_900_{ONE}.ipynb" for number, who in ((501, "ada"), (502, "bob"), (503, "cem"))]
    out = tmp_path / "back.zip"
    came = download(tmp_path / "came.zip", *names)
    assert main.main(["feedback-zip", ONE, str(came), "--out", str(out)]) == NEEDS_A_PERSON
    assert "left out: bob has no final grade: an exercise needs a person" in capsys.readouterr().out.splitlines()
    with zipfile.ZipFile(out) as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}
    assert pages.keys() == {f"ada_501_900_{ONE}.html", f"cem_503_900_{ONE}.html"}
    assert all("hand in the saved file again" in page for page in pages.values())


@pytest.mark.quick_cases("folder")
@pytest.mark.parametrize("shape", ["folder", "folder without its last line", "flat"])
def test_feedback_files_have_the_names_from_moodle(course, tmp_path, capsys, shape):
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
    own = {"folder": f"_/{ONE}.ipynb", "folder without its last line": f"_/x/{ONE}.ipynb", "flat": f"_{ONE}.ipynb"}
    came = download(tmp_path / "moodle.zip", f"Ada Lovelace_88231_assignsubmission_file{own[shape]}")
    out = tmp_path / "back.zip"
    assert main.main(["feedback-zip", ONE, str(came), "--out", str(out)]) == 0
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == [f"Ada Lovelace_88231_assignsubmission_file_{ONE}.html"]


def test_a_download_from_a_platform_without_feedback_upload_is_refused(course, tmp_path, capsys):
    came = download(tmp_path / "folders.zip", f"ada/{ONE}.ipynb")
    assert main.main(["feedback-zip", ONE, str(came)]) == 2
    assert "no file in the download has a name that Canvas or Moodle" in capsys.readouterr().err


def wide_table(course: Path, out: Path) -> dict[str, dict[str, str]]:
    app = ExportApp.instance(config=Course(course).config)
    try:
        app.initialize([f"--to={out}", "--exporter=grading.nbgrader_plugins.csv_exporters.WideCsvExporter"])
        app.start()
    finally:
        ExportApp.clear_instance()
    return rows_of(out)


def test_a_wide_table_has_one_row_per_student_and_shows_excuses(course, tmp_path):
    rows = wide_table(course, tmp_path / "class.csv")
    assert [rows[student][ONE] for student in ("ada", "bob", "cem", "dan", "eve")] == ["5", "0", "3", "0", "EX"]
    assert (rows["ada"]["total"], rows["ada"]["out_of"]) == ("5", "10")
    assert (rows["eve"]["total"], rows["eve"]["out_of"]) == ("0", "5")


def test_an_excuse_is_in_the_lms_file_and_counts_in_no_mean(course, capsys):
    assert main.main(["excuse", ONE, "bob"]) == 0  # bob has a grade
    export = course / "canvas.csv"
    export.write_text('Student,ID,01 Double (1)\n    Points Possible,,5\n"A, Ada",501,\n"B",502,0\n"E, Eve",505,\n')
    assert main.main(["fill-gradebook", str(export), ONE]) == 0
    filled = ['"A, Ada",501,5', "B,502,EX", '"E, Eve",505,EX']
    assert (course / "canvas-filled.csv").read_text().splitlines()[-3:] == filled

    capsys.readouterr()
    assert main.main(["report", "--students", "--html", "class.html", "--csv", "tables"]) == 0
    assert main.main(["report", "--students"]) == 0
    told = capsys.readouterr().out
    assert f"Excused (not in any mean):\n    bob: {ONE}\n    eve: {ONE}" in told
    assert "squares" not in told and "70–90 %" in told  # of ada's 5 and cem's 3 points
    assert [line.split() for line in told.splitlines() if re.match("(ada|bob|eve) ", line)] == [
        ["ada", "5/5"],
        ["bob", "excused"],
        ["eve", "excused"],
    ]
    page = Elements((course / "class.html").read_text()).text
    assert "median 80 %" in page and re.search(r"eve\s+excused", page) and "squares" not in page
    with (course / "tables" / "points.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row["student"]: row[ONE] for row in csv.DictReader(file)}["bob"] == "excused"
    with (course / "tables" / "students.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["student"] for row in csv.DictReader(file) if row["excused"]] == ["bob", "eve"]
    assert main.main(["excuse", ONE, "bob", "--none"]) == 0
    assert main.main(["report", "--students"]) == 0
    assert re.search(r"bob +0/5", capsys.readouterr().out)


def rows_of(file: Path) -> dict[str, dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return {row["student_id"]: row for row in csv.DictReader(lines)}


def test_a_warm_up_is_in_no_total_and_nobody_is_missing_it(course, tmp_path, monkeypatch):
    monkeypatch.setattr(outline, "WARM_UP", re.compile(TINY_LESSONS[1]))
    wide = wide_table(course, tmp_path / "class.csv")
    assert (wide["ada"]["total"], wide["ada"]["out_of"], wide["ada"][TINY_LESSONS[1]]) == ("5", "5", "0")
    main.main(["gradebook", "all.csv", "--total"])
    ada = rows_of(course / "all.csv")["ada"]
    assert (ada["total"], ada["out_of"], ada["missing"], ada[TINY_LESSONS[1]]) == ("5", "5", "", "")


def test_everybodys_points_are_in_one_file_and_missing_submissions_are_listed(course, capsys):
    with Gradebook(f"sqlite:///{course}/gradebook.db", "attention") as gradebook:
        gradebook.update_or_create_student("fay", last_name="=1+1")
    (course / "submitted" / "dan" / ONE).mkdir(parents=True, exist_ok=True)
    assert main.main(["gradebook", "all.csv", "--scale", "100", "--total", ONE]) == 1, "dan is not graded"
    told = capsys.readouterr().out
    rows = rows_of(course / "all.csv")
    assert {student: (row[ONE], row["total"], row["out_of"], row["missing"]) for student, row in rows.items()} == {
        "ada": ("100", "100", "100", ""),
        "bob": ("0", "0", "100", ""),
        "cem": ("60", "60", "100", ""),
        "dan": ("", "0", "0", ""),
        "eve": ("EX", "0", "0", ""),
        "fay": ("", "0", "100", ONE),
    }
    assert rows["fay"]["last_name"] == "'=1+1", "a spreadsheet computes nothing"
    assert f"{ONE}, not handed in: fay" in told and f"{ONE}, not graded yet: dan" in told
    assert main.main(["gradebook", "two.csv", "--students", "ada", "cem"]) == 0
    found = rows_of(course / "two.csv")
    assert {student: row[ONE] for student, row in found.items()} == {"ada": "5", "cem": "3"}
    assert "total" not in found["ada"]
    with pytest.raises(SystemExit, match="2"):
        main.main(["gradebook", "all.csv", "--scale", "none"])


def test_all_lessons_with_a_column_are_filled_at_once_for_all_or_some_students(course, capsys):
    export = course / "canvas.csv"
    export.write_text('Student,ID,01 Double (1)\n    Points Possible,,5\n"A, Ada",501,\n"C, Cem",503,\n')
    assert main.main(["fill-gradebook", str(export)]) == 0
    assert (course / "canvas-filled.csv").read_text().splitlines()[-2:] == ['"A, Ada",501,5', '"C, Cem",503,3']
    assert main.main(["fill-gradebook", str(export), ONE, "--students", "cem"]) == 0
    assert (course / "canvas-filled.csv").read_text().splitlines()[-2:] == ['"A, Ada",501,', '"C, Cem",503,3']
    assert main.main(["fill-gradebook", str(export), TINY_LESSONS[1]]) == 2
    assert main.main(["fill-gradebook", str(export), "--column", "01 Double (1)"]) == 2, "of which lesson?"
    assert "--column needs one lesson, got" in capsys.readouterr().err
