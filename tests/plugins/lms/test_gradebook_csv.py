"""Fill gradebook files of Canvas and Moodle: the right cells by id, and no others.

The shapes are those of Canvas's gradebook export (Canvas Instructor Guide, "How do I export grades in the Gradebook?")
and of Moodle's grader report and offline grading worksheet (Moodle documentation, "Grade export" and "Assignment").
"""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from grading.errors import GradebookCsvError
from grading.plugins.lms.gradebook_csv import FillResult, fill_column, summary_lines
from grading.plugins.lms.people import person

LESSON = "02_softmax"
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,01 Dot products (811),02 Softmax (812),Final Score
    Points Possible,,,,,20,20,(read only)
"Lovelace, Ada",501,U-7,ada@uni.example,"A, morning",18,,90.5
"Lovelace, Ada",502,U-8,ada2@uni.example,B,20,3,50
"Ünal, Cem",503,U-9,cem@uni.example,B,,20,
"Student, Test",999,,,,,,
"""
REPORT = """First name,Last name,ID number,Email address,Assignment: 01 dots (Real),Assignment: 02_softmax (Real)
Ada,Lovelace,4711,ada@uni.example,"17,5",-
Ada,Lovelace,4712,ada2@uni.example,20,"12,5"
Zoe,New,4799,zoe@uni.example,-,-
"""
WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Feedback comments
Participant 31,Ada Lovelace,ADA@uni.example,Submitted,,20.00,Yes,"Good, so far"
Participant 32,Ada Lovelace,ada2@uni.example,Submitted,3.00,20.00,Yes,
"""
PEOPLE = [
    person("ada", "U-7", "ada@uni.example"),
    person("ada_l", "U-8", "Ada2@Uni.example"),
    person("4711"),
    person("4712"),
    person("cem", None, "cem@uni.example"),
    person("dan", "", "dan@uni.example"),
]


def filled(text: str, points: dict[str, float], most: float = 20, **more: Any) -> FillResult:
    return fill_column(text.encode(), LESSON, PEOPLE, points, most, **more)


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def changes(before: str, after: str) -> dict[tuple[int, int], tuple[str, str]]:
    """The differences, by line and column."""
    rows = zip(cells(before), cells(after), strict=True)
    pairs = ((i, j, *pair) for i, (one, two) in enumerate(rows) for j, pair in enumerate(zip(one, two, strict=True)))
    return {(i, j): (one, two) for i, j, one, two in pairs if one != two}


def test_canvas_gets_points_by_id_and_namesakes_are_kept_apart():
    done = filled(CANVAS, {"ada": 17.5, "ada_l": 4, "cem": 20, "dan": 9})
    assert changes(CANVAS, done.text) == {(2, 6): ("", "17.5"), (3, 6): ("3", "4")}
    assert (done.column, done.by, done.same) == ("02 Softmax (812)", "SIS Login ID", 1)
    assert done.unmatched == ["dan"]
    assert "graded, but not in the file: dan" in list(summary_lines(done))
    assert filled(done.text, {"ada": 17.5, "ada_l": 4, "cem": 20}).changed == {}


def test_moodles_report_keeps_its_commas_and_cells_of_people_without_points():
    done = filled(REPORT, {"4711": 17.5, "4712": 13.25})
    assert changes(REPORT, done.text) == {(1, 5): ("-", "17,5"), (2, 5): ("12,5", "13,25")}
    assert done.by == "ID number"
    assert done.left == ["4799"]


def test_moodles_worksheet_is_filled_by_e_mail_in_any_case():
    done = filled(WORKSHEET, {"ada": 17.5, "ada_l": 3})
    assert changes(WORKSHEET, done.text) == {(1, 4): ("", "17.5")}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_everything_but_the_column_is_unchanged(encoding, delimiter, ending):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=ending).writerows(cells(CANVAS))
    done = fill_column(out.getvalue().encode(encoding), LESSON, PEOPLE, {"cem": 20}, 20)
    assert done.text == out.getvalue()


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (CANVAS.replace("02 Softmax", "Week two"), {}, "no column is named after 02_softmax.*Week two"),
        (CANVAS.replace("01 Dot products", "02 softmax, again"), {}, "2 columns are named after"),
        (CANVAS, {"column": "Softmax"}, "no column is called 'Softmax'"),
        (CANVAS, {"by": "Login"}, "expected one column called 'Login'"),
        (CANVAS.replace("U-", "X-").replace("@uni", "@other"), {}, "no student of the class"),
        (CANVAS.replace("cem@", "ada@"), {}, "ada is in two lines"),
        (CANVAS.replace("20,20,(read", "20,100,(read"), {}, "has 100 points in the LMS, but the lesson has 20"),
        (WORKSHEET.replace("20.00", "10.00"), {}, "has 10 points in the LMS"),
        ("", {}, "not a gradebook file"),
        ("a story about softmax", {}, "not a gradebook file"),
    ],
)
def test_a_file_that_cannot_be_filled_gives_an_error_with_the_remedy(text, more, said):
    with pytest.raises(GradebookCsvError, match=said):
        filled(text, {"ada": 5}, **more)


def test_an_id_that_two_people_share_is_refused():
    with pytest.raises(GradebookCsvError, match="ada and eve both have"):
        fill_column(CANVAS.encode(), LESSON, [person("ada", "U-7"), person("eve", "U-7")], {"ada": 5}, 20)


def test_an_excuse_is_written_for_canvas_and_left_out_for_moodle():
    done = filled(CANVAS, {"ada": 17.5, "cem": 20}, excused=["ada_l", "dan"])
    assert changes(CANVAS, done.text) == {(2, 6): ("", "17.5"), (3, 6): ("3", "EX")}
    assert (done.left, done.excused) == ([], [])
    again = filled(done.text, {"ada": 17.5, "cem": 20}, excused=["ada_l"])
    assert (again.changed, again.same) == ({}, 3)
    assert filled(done.text, {"ada_l": 0}).changed == {"ada_l": ("EX", "0")}  # the excuse was cancelled
    done = filled(REPORT, {"4711": 17.5}, excused=["4712"])
    assert changes(REPORT, done.text) == {(1, 5): ("-", "17,5")}
    assert "4712" not in done.left
    assert "unchanged, because they are excused, which this kind of file cannot express: 4712" in list(
        summary_lines(done)
    )


def test_another_column_may_be_named():
    done = filled(CANVAS, {"ada": 5}, column="01 Dot products (811)", by="SIS User ID")
    assert changes(CANVAS, done.text) == {(2, 5): ("18", "5")}
