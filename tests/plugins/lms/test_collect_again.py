"""Collect files in other forms, new versions, and the same files again.

Only changes are written.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from grading.errors import IdentityTableError
from grading.plugins.lms.identities import IdentityTable
from grading.plugins.lms.platforms import Submitter

from ...support.lms_downloads import moodle, notebook, zipped
from ...support.two_exercise_course import LESSON


def mtimes(root: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in (root / "submitted").rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({f"{LESSON}.ipynb.txt": notebook("jane")}, "repaired"),
        ({f"Copy of {LESSON}.ipynb.TXT": notebook("jane")}, "repaired"),
        ({f"{LESSON}.ipynb.zip": zipped({f"{LESSON}.ipynb": notebook("jane")})}, "taken"),
        ({f"{LESSON}.py": notebook("jane")}, "repaired"),
        ({f"{LESSON}.py": b"", f"{LESSON}.ipynb": notebook("jane"), "helpers.py": b""}, "taken"),
        ({f"{LESSON}.ipynb.txt": b"", f"old/{LESSON}.ipynb": notebook("jane")}, "taken"),
        ({f"a/{LESSON}.ipynb": notebook("jane"), f"b/{LESSON}.ipynb": notebook("jane")}, "taken"),
    ],
)
def test_a_notebook_in_another_form_is_collected(collect: Any, files: dict[str, bytes], what: str) -> None:
    assert collect({"class.zip": zipped({moodle("Jane", 1, name): c for name, c in files.items()})}) == {"jane": "jane"}
    assert collect.statuses() == {"Jane (1) in class.zip": what}


def test_an_unchanged_file_is_not_written_again(collect: Any, course: Any) -> None:
    files = {f"{name}_{n}_{n}00_{LESSON}.ipynb": notebook(name) for n, name in enumerate(["jane", "bo", "ada"], 1)}
    assert collect(files) == {"jane": "jane", "bo": "bo", "ada": "ada"}
    before = mtimes(course.root)
    changed = {f"bo_2_205_{LESSON}-1.ipynb": notebook("bo again"), f"eve_4_400_{LESSON}.ipynb": notebook("eve")}
    assert collect(changed) == {"jane": "jane", "bo": "bo again", "ada": "ada", "eve": "eve"}
    after = mtimes(course.root)
    assert {Path(path).parts[-3] for path in after if after[path] != before.get(path)} == {"bo", "eve"}
    told = {one.student: one.what for one in collect.outcomes}
    assert told == {"jane": "as before", "ada": "as before", "bo": "replaced", "eve": "taken"}


def test_a_time_that_a_teacher_wrote_is_kept(collect: Any, course: Any) -> None:
    collect({moodle("Jane", 1): notebook("first")})
    stamp = course.root / "submitted" / "jane" / LESSON / "timestamp.txt"
    stamp.write_text("2026-11-21 08:00:00 UTC\n")
    collect({})
    assert collect.timestamps() == {"jane": "2026-11-21 08:00:00 UTC"}
    assert collect({moodle("Jane", 1): notebook("second")}) == {"jane": "second"}
    assert collect.timestamps()["jane"].startswith("2026-11-21 08:00:00")


def test_an_older_download_does_not_replace_a_newer_one(collect: Any) -> None:
    def attempt(hour: str) -> dict[str, bytes]:
        return {f"7-9 - Jane - Sep 24, 2026 {hour}00 AM/{LESSON}.ipynb": notebook(f"at {hour}")}

    assert collect(attempt("9")) == {"jane": "at 9"}
    assert collect.replace(attempt("8")) == {"jane": "at 9"}
    assert "it is older than the submission in submitted/" in collect.outcome_line("Jane (7)")
    assert collect.replace(attempt("10")) == {"jane": "at 10"}


def test_two_downloads_of_one_person_are_joined_if_the_platform_orders_them(collect: Any) -> None:
    first, later = ({f"jane_7_{order}_{LESSON}.ipynb": notebook(str(order))} for order in (600, 700))
    assert collect({"a.zip": zipped(later), "b.zip": zipped(first)}) == {"jane": "700"}
    same = zipped({moodle("Bo", 1): notebook("bo")})
    assert collect.replace({"a.zip": same, "b.zip": same})["bo"] == "bo"


@pytest.mark.full
def test_a_submitted_environment_is_reported_in_one_line_and_the_notebook_counts(collect: Any) -> None:
    files = {moodle("Jane", 1, f"venv/lib/site-packages/{n}/x.py"): b"" for n in range(20_000)}
    files |= {moodle("Jane", 1): notebook("jane"), moodle("Bo", 2, "a/site-packages/02_halves.ipynb"): notebook("bo")}
    assert collect({"class.zip": zipped(files)}) == {"jane": "jane"}
    (jane,) = (one for one in collect.outcomes if one.student == "jane")
    assert jane.why == "not searched: venv"


def test_the_table_shows_each_outcome(collect: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    files = {
        moodle("Jane Smith", 1): notebook("jane"),
        moodle("Bo", 2, f"{LESSON}.ipynb.txt"): notebook("bo"),
        moodle("Ada", 3, "a.pdf"): b"",
        "x.ipynb": notebook("whose?"),
    }
    collect({"class.zip": zipped(files)})
    said = capsys.readouterr().out.splitlines()
    rows = {line.split("  ")[0]: line for line in said}
    assert "jane_smith" in rows["taken"] and "Jane Smith (1) in class.zip" in rows["taken"]
    assert "it was a file of type .ipynb.txt" in rows["repaired"]
    assert "it has no notebook of this lesson" in rows["skipped"]
    assert "its name does not show whose it is" in rows["whose?"]
    assert "1 taken, 1 repaired, 1 skipped, 1 whose?" in said
    assert "Whose? Fill in the column student of student-ids.csv, then collect again." in said


def test_several_students_may_be_one_answer(collect: Any, class_list: Any) -> None:
    class_list(ada={"first_name": "A"}, bo={"first_name": "B"})
    collect({f"Team Rocket/{LESSON}.ipynb": notebook("team")})
    collect.answer(**{"Team Rocket": "ada bo"})
    assert collect({}) == {"ada": "team", "bo": "team"}


def test_the_table_is_safe_to_open_in_a_spreadsheet(collect: Any, course: Any) -> None:
    names = ["=1+1", "@x", "a\x1b[2J", "+a,b;c"]
    collect({"a.zip": zipped({moodle(name, n): notebook("x") for n, name in enumerate(names)})})
    with open(course.root / "student-ids.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows} == {"'=1+1", "'@x", "a\\x1b[2J", "'+a,b;c"}
    again = IdentityTable(course.root / "student-ids.csv")
    assert all(again.row(Submitter("moodle", name, str(n))) for n, name in enumerate(names))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\r\n1,2\r\n", "has no column from, name, number, student"),
        ("student,from,number,name\r\n../x,moodle,1,Jane\r\n", "line 2"),
    ],
)
def test_an_unreadable_table_gives_an_error_and_nothing_is_collected(
    collect: Any, course: Any, text: str, why: str
) -> None:
    (course.root / "student-ids.csv").write_bytes(text.encode())
    with pytest.raises(IdentityTableError, match=why):
        collect({moodle("Jane", 1): notebook("jane")})
    assert (course.root / "student-ids.csv").read_bytes() == text.encode()


def test_a_late_mark_without_a_due_date_is_reported(collect: Any, course: Any) -> None:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        assert gradebook.find_assignment(LESSON).duedate is None
    collect({f"jane_LATE_1_600_{LESSON}.ipynb": notebook("jane")})
    assert "late; the download does not show by how much" in collect.outcomes[0].why
    assert collect.timestamps() == {}


@pytest.mark.parametrize("junk", [".ipynb_checkpoints/02_halves-checkpoint.ipynb", "__MACOSX/._02_halves.ipynb", "._x"])
def test_a_person_with_only_junk_files_is_in_the_table(collect: Any, junk: str) -> None:
    files = {moodle("Jane", 1): notebook("jane"), moodle("Jane", 1, junk): b"", moodle("Eve Ma", 2, junk): b"x"}
    assert collect({"class.zip": zipped(files)}) == {"jane": "jane"}
    assert collect.outcome_line("Eve Ma").endswith("it is empty, except for checkpoints and installed or hidden files")
    assert len(collect.outcomes) == 2
    assert not any(one.why for one in collect.outcomes if one.student == "jane")
