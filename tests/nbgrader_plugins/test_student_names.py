"""An id that nbgrader cannot take is refused at every entry point, with the remedy; what one takes all take."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from grading.cli import main
from grading.cli.arguments import NOT_DONE
from grading.course import Course
from grading.errors import IdentityTableError
from grading.plugins.lms.identities import IdentityTable

from ..browser.serving import TOKEN, serving
from ..support.course_builder import TINY_LESSONS, build_course, solved_notebook, submit

BIN = Path(sys.executable).parent
LESSON = TINY_LESSONS[0]
UNFIT = ["x(1)[2]", "DOM\\jdoe", "x&y<b>"]
FIT = ["o'neil", "x(1)", "j.smith+2@example.org"]
REMEDY = "rename the folder in submitted/, or change the id"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    exchange = tmp_path / "exchange"
    (exchange / "attention" / "inbound").mkdir(parents=True)
    exchange.chmod(0o777)
    settings = [
        "JudgedExecute.unsandboxed = True",
        "CourseDirectory.course_id = 'attention'",
        f"Exchange.root = {str(exchange)!r}",
        "ExchangeCollect.check_owner = False",
    ]
    config = "\n".join(f"c.{setting}" for setting in settings)
    root = build_course(tmp_path / "course", config=config, release=[LESSON])
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "300")
    return root


def nbgrader(root: Path, *arguments: str) -> str:
    done = subprocess.run([BIN / "nbgrader", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.full("starts every command of nbgrader and of ours")
def test_every_entry_point_refuses_and_takes_the_same(course, tmp_path, capsys):
    inbound = tmp_path / "exchange" / "attention" / "inbound"
    for student in [*UNFIT, *FIT]:
        handed_in = inbound / f"{student}+{LESSON}+2026-11-20 12:00:00 UTC+secret"
        handed_in.mkdir()
        (handed_in / f"{LESSON}.ipynb").write_text(json.dumps(solved_notebook(course, LESSON)))
        (handed_in / "timestamp.txt").write_text("2026-11-20 12:00:00 UTC")
        (handed_in / "submission_secret.txt").write_text("secret")
    said = nbgrader(course, "collect", LESSON)
    assert said.count(REMEDY) == len(UNFIT)
    assert sorted(path.name for path in (course / "submitted").iterdir()) == sorted(FIT)

    for student in UNFIT:  # as people put them there by hand
        submit(course, LESSON, student)
    assert main.main(["grade", LESSON]) == NOT_DONE
    assert capsys.readouterr().out.count(REMEDY) == len(UNFIT)
    assert {student for student, _ in Course(course).scores()} == set(FIT)
    said = nbgrader(course, "autograde", LESSON)
    assert said.count(REMEDY) == len(UNFIT)
    for student in UNFIT:
        (course / "student-ids.csv").write_text(f"student,from,number,name\n{student},moodle,1,Jane\n")
        with pytest.raises(IdentityTableError, match=REMEDY):
            IdentityTable.of(course)
    (course / "student-ids.csv").unlink()
    download = tmp_path / "download"
    (download / UNFIT[0]).mkdir(parents=True)
    (download / UNFIT[0] / f"{LESSON}.ipynb").write_text(json.dumps(solved_notebook(course, LESSON)))
    with Course(course).gradebook() as gradebook:
        gradebook.update_or_create_student(UNFIT[0], first_name="X")
    assert main.main(["collect", str(download)]) == 1
    assert REMEDY in capsys.readouterr().out

    assert main.main(["feedback", LESSON]) == 0
    assert {path.parent.parent.name for path in (course / "feedback").glob("*/*/*.html")} == set(FIT)
    assert nbgrader(course, "export") and {student for student, _ in Course(course).scores()} == set(FIT)


@pytest.mark.full("starts a JupyterLab server")
def test_the_formgraders_autograde_says_so_too(course, tmp_path):
    for student in (UNFIT[0], FIT[1]):
        submit(course, LESSON, student)
    home = tmp_path / "home"
    home.mkdir()
    with serving(course, home) as address:
        for student, is_taken in ((UNFIT[0], False), (FIT[1], True)):
            path = f"/formgrader/api/submission/{LESSON}/{urllib.parse.quote(student)}/autograde"
            asked = urllib.request.Request(address + path, b"", {"Authorization": f"token {TOKEN}"}, method="POST")
            answer = json.loads(urllib.request.urlopen(asked).read())
            assert answer["success"] == is_taken
            assert is_taken or REMEDY in answer["log"]
    assert {student for student, _ in Course(course).scores()} == {FIT[1]}
