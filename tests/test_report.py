"""The class at a glance, from files in autograded/ as grading leaves them, and as students would have them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from rich.console import Console

from grading.judge.verdict import MIME, ExerciseVerdict
from grading.report import frequent_mistakes, shortened, show_class, unreadable, verdicts

from .small import make_course

EIGHT = [f"{number:02}_lesson" for number in range(1, 9)]


def graded(root: Path, student: str, lesson: str, *found: ExerciseVerdict, before: Any = ()) -> Path:
    """Write an autograded notebook that holds these verdicts, after the cells `before`."""
    cells = list(before)
    for verdict in found:
        marks = {
            "grade": True,
            "solution": False,
            "locked": True,
            "grade_id": f"check_{verdict.exercise}",
            "points": verdict.points,
            "schema_version": 3,
            "task": False,
        }
        shown = new_output("display_data", data={MIME: verdict.to_json()})
        cells.append(new_code_cell("check(f)", metadata={"nbgrader": marks}, outputs=[shown]))
    path = root / "autograded" / student / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(new_notebook(cells=cells)))
    return path


def verdict(status: str = "right", mistake: str = "", exercise: str = "double", **more: Any) -> ExerciseVerdict:
    return ExerciseVerdict(exercise, 5.0, 5.0 if status == "right" else 1.5, status, mistake=mistake, **more)


def shown(root: Path, scores: Any = None, waiting: Any = (), width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    show_class(root, scores or {}, waiting, console)
    return console.file.getvalue()


def test_without_grades_it_says_what_to_do(tmp_path):
    assert "make grade" in shown(tmp_path)


def test_eight_lessons_and_long_names_fit_into_eighty_columns(tmp_path):
    names = ["ada", "a_very_long_name_from_moodle_1234567", "a_very_long_name_from_moodle_7654321"]
    scores = {(name, lesson): (17.5, 20.0) for name in names for lesson in EIGHT}
    for name, lesson in scores:
        graded(tmp_path, name, lesson, verdict())
    lines = shown(tmp_path, scores).splitlines()
    assert max(map(len, lines)) <= 80
    head = next(line for line in lines if line.startswith("student"))
    assert head.split()[1:] == ["01", "02", "03", "04", "05", "06", "07", "08"]
    rows = [line for line in lines if "17.5/20" in line]
    assert [row.split()[1:] for row in rows] == [["17.5/20"] * 8] * 3
    assert len({row.split()[0] for row in rows}) == 3  # what tells the two long names apart is still there


def test_lessons_of_one_number_keep_their_names(tmp_path):
    for lesson in ("01_one", "01_other", "02_two"):
        graded(tmp_path, "ada", lesson, verdict())
    head = next(line for line in shown(tmp_path).splitlines() if line.startswith("student"))
    assert head.split() == ["student", "01_one", "01_other", "02"]


def test_a_lesson_that_a_student_has_not_handed_in_is_no_zero(tmp_path):
    graded(tmp_path, "ada", "01_one", verdict())
    graded(tmp_path, "bob", "02_two", verdict())
    text = shown(tmp_path, {("ada", "01_one"): (5.0, 5.0), ("bob", "02_two"): (0.0, 5.0)})
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "/5" in line}
    assert rows == {"ada": ["5/5", "–"], "bob": ["–", "0/5"]}


@pytest.mark.parametrize("name", ["ada", "x" * 24])
def test_a_short_name_is_left_alone(name):
    assert shortened(name) == name


def test_a_long_name_keeps_both_ends():
    assert shortened("jane_smith_of_the_long_name_2041", 16) == "jane_smith…_2041"


def test_a_name_in_brackets_is_a_name(tmp_path):
    graded(tmp_path, "[red]rose", "01_one", verdict())
    assert "[red]rose" in shown(tmp_path)


def test_the_three_most_frequent_mistakes_are_told_with_their_text(tmp_path):
    root = make_course(tmp_path)
    made = {"ada": "squares", "bob": "squares", "cem": "loses_the_gradient", "dan": "squares", "eve": ""}
    for student, mistake in made.items():
        graded(root, student, "01_double", verdict("wrong", mistake, see="To double"))
    graded(root, "ada", "02_halve", verdict("wrong", "squares", "halve"), verdict("wrong", "squares", "other"))
    assert [line[:4] for line in frequent_mistakes(list(verdicts(root)))] == [
        (3, "01_double", "double", "squares"),
        (1, "01_double", "double", "loses_the_gradient"),
        (1, "02_halve", "halve", "squares"),
        (1, "02_halve", "other", "squares"),
    ]
    text = shown(root)
    assert "3 × squares in double (01_double; see “To double”)\n    That is the *square*." in text
    assert "1 × loses the gradient in double" in text
    assert text.count(" × ") == 3


def test_of_two_mistakes_at_once_both_count_and_of_a_likely_one_none(tmp_path):
    two = verdict("wrong", "squares", see="To double", also="loses_the_gradient", also_see="Gradients")
    graded(tmp_path, "ada", "01_double", two)
    graded(tmp_path, "bob", "01_double", verdict("wrong", "squares", sure=False))
    assert frequent_mistakes(list(verdicts(tmp_path))) == [
        (1, "01_double", "double", "loses_the_gradient", "Gradients"),
        (1, "01_double", "double", "squares", "To double"),
    ]


def test_what_needs_a_person_is_starred_and_listed(tmp_path):
    graded(tmp_path, "ada", "01_one", verdict(), verdict("needs a person", exercise="halve"))
    graded(tmp_path, "bob", "01_one", verdict())
    scores = {("ada", "01_one"): (5.0, 10.0), ("bob", "01_one"): (10.0, 10.0)}
    waiting = {("ada", "01_one", "halve"), ("ada", "01_one", "double"), ("cem", "01_one", "halve")}
    lines = shown(tmp_path, scores, waiting).splitlines()
    assert any(line.split() == ["ada", "5/10*"] for line in lines)
    assert any(line.split() == ["bob", "10/10"] for line in lines)
    assert lines[-2:] == ["* needs a person, in the formgrader:", "    ada, 01_one: double, halve"]
    assert "*" not in shown(tmp_path, scores)  # once a person has graded it


def test_grades_made_without_the_sandbox_are_counted(tmp_path):
    graded(tmp_path, "ada", "01_one", verdict(sandboxed=False), verdict(exercise="halve", sandboxed=False))
    graded(tmp_path, "bob", "01_one", verdict())
    assert "1 of these submissions was graded without the sandbox." in shown(tmp_path)


FORGED = ["forged", {"exercise": "double", "points": 5, "earned": 5, "status": "right", "mistake": "squares"}, 7, [1]]


@pytest.mark.parametrize("data", FORGED, ids=["text", "verdict", "number", "list"])
@pytest.mark.parametrize("marks", [{}, {"grade": True, "solution": True}], ids=["own cell", "answer with points"])
def test_what_a_student_shows_under_our_name_is_no_verdict_and_stops_nothing(tmp_path, data, marks):
    own = new_code_cell("display(...)", metadata={"nbgrader": marks} if marks else {})
    own.outputs = [new_output("display_data", data={MIME: data})]
    graded(tmp_path, "ada", "01_one", verdict("wrong"), before=[own])
    found = list(verdicts(tmp_path))
    assert [g.verdict.status for g in found] == ["wrong"]
    assert "ada" in shown(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"cells": 3}', b'{"cells": [{}]}'])
def test_a_damaged_file_is_named_and_does_not_stop_the_rest(tmp_path, content):
    graded(tmp_path, "ada", "01_one", verdict())
    damaged = graded(tmp_path, "bob", "01_one", verdict())
    damaged.write_bytes(content)
    assert unreadable(tmp_path) == [damaged]
    text = shown(tmp_path, width=200)
    assert "autograded/bob/01_one/01_one.ipynb cannot be read: grade it again" in text
    assert any(line.startswith("ada") for line in text.splitlines())
