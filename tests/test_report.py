"""The class at a glance, in a terminal of eighty columns."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grading.judge.verdict import ExerciseVerdict
from grading.report import Graded, frequent_mistakes, shortened, show_class

from .small import make_course

EIGHT = [f"{number:02}_lesson" for number in range(1, 9)]


def graded(student: str, lesson: str, *found: ExerciseVerdict) -> list[Graded]:
    return [Graded(student, lesson, one) for one in found]


def verdict(status: str = "right", mistake: str = "", exercise: str = "double", **more: Any) -> ExerciseVerdict:
    return ExerciseVerdict(exercise, 5.0, 5.0 if status == "right" else 1.5, status, mistake=mistake, **more)


def shown(
    root: Path, found: list[Graded], scores: Any = None, waiting: Any = (), ungraded: Any = (), width: int = 80
) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    show_class(root, found, scores or {}, waiting, ungraded, console)
    return console.file.getvalue()


def test_without_grades_it_says_what_to_do(tmp_path):
    found: list[Graded] = []
    assert "make grade" in shown(tmp_path, found)


def test_eight_lessons_and_long_names_fit_into_eighty_columns(tmp_path):
    found: list[Graded] = []
    names = ["ada", "a_very_long_name_from_moodle_1234567", "a_very_long_name_from_moodle_7654321"]
    scores = {(name, lesson): (17.5, 20.0) for name in names for lesson in EIGHT}
    for name, lesson in scores:
        found += graded(name, lesson, verdict())
    lines = shown(tmp_path, found, scores).splitlines()
    assert max(map(len, lines)) <= 80
    head = next(line for line in lines if line.startswith("student"))
    assert head.split()[1:] == ["01", "02", "03", "04", "05", "06", "07", "08"]
    rows = [line for line in lines if "17.5/20" in line]
    assert [row.split()[1:] for row in rows] == [["17.5/20"] * 8] * 3
    assert len({row.split()[0] for row in rows}) == 3  # what tells the two long names apart is still there


def test_lessons_of_one_number_keep_their_names(tmp_path):
    found: list[Graded] = []
    for lesson in ("01_one", "01_other", "02_two"):
        found += graded("ada", lesson, verdict())
    head = next(line for line in shown(tmp_path, found).splitlines() if line.startswith("student"))
    assert head.split() == ["student", "01_one", "01_other", "02"]


def test_a_lesson_that_a_student_has_not_handed_in_is_no_zero(tmp_path):
    found: list[Graded] = []
    found += graded("ada", "01_one", verdict())
    found += graded("bob", "02_two", verdict())
    text = shown(tmp_path, found, {("ada", "01_one"): (5.0, 5.0), ("bob", "02_two"): (0.0, 5.0)})
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "/5" in line}
    assert rows == {"ada": ["5/5", "–"], "bob": ["–", "0/5"]}


@pytest.mark.parametrize("name", ["ada", "x" * 24])
def test_a_short_name_is_left_alone(name):
    assert shortened(name) == name


def test_a_long_name_keeps_both_ends():
    assert shortened("jane_smith_of_the_long_name_2041", 16) == "jane_smith…_2041"


def test_a_name_in_brackets_is_a_name(tmp_path):
    found: list[Graded] = []
    found += graded("[red]rose", "01_one", verdict())
    assert "[red]rose" in shown(tmp_path, found)


def test_the_three_most_frequent_mistakes_are_told_with_their_text(tmp_path):
    found: list[Graded] = []
    root = make_course(tmp_path)
    made = {"ada": "squares", "bob": "squares", "cem": "loses_the_gradient", "dan": "squares", "eve": ""}
    for student, mistake in made.items():
        found += graded(student, "01_double", verdict("wrong", mistake, see="To double"))
    found += graded("ada", "02_halve", verdict("wrong", "squares", "halve"), verdict("wrong", "squares", "other"))
    assert [line[:4] for line in frequent_mistakes(found)] == [
        (3, "01_double", "double", "squares"),
        (1, "01_double", "double", "loses_the_gradient"),
        (1, "02_halve", "halve", "squares"),
        (1, "02_halve", "other", "squares"),
    ]
    text = shown(root, found)
    assert "3 × squares in double (01_double; see “To double”)\n    That is the *square*." in text
    assert "1 × loses the gradient in double" in text
    assert text.count(" × ") == 3


def test_of_two_mistakes_at_once_both_count_and_of_a_likely_one_none():
    two = verdict("wrong", "squares", see="To double", also="loses_the_gradient", also_see="Gradients")
    likely = verdict("wrong", "squares", sure=False)
    found = [*graded("ada", "01_double", two), *graded("bob", "01_double", likely)]
    assert frequent_mistakes(found) == [
        (1, "01_double", "double", "loses_the_gradient", "Gradients"),
        (1, "01_double", "double", "squares", "To double"),
    ]


def test_what_needs_a_person_is_starred_and_listed(tmp_path):
    found: list[Graded] = []
    found += graded("ada", "01_one", verdict(), verdict("needs a person", exercise="halve"))
    found += graded("bob", "01_one", verdict())
    scores = {("ada", "01_one"): (5.0, 10.0), ("bob", "01_one"): (10.0, 10.0)}
    waiting = {("ada", "01_one", "halve"), ("ada", "01_one", "double"), ("cem", "01_one", "halve")}
    lines = shown(tmp_path, found, scores, waiting).splitlines()
    assert any(line.split() == ["ada", "5/10*"] for line in lines)
    assert any(line.split() == ["bob", "10/10"] for line in lines)
    assert lines[-2:] == ["* needs a person, in the formgrader:", "    ada, 01_one: double, halve"]
    assert "*" not in shown(tmp_path, found, scores)  # once a person has graded it


def test_grades_made_without_the_sandbox_are_counted(tmp_path):
    found: list[Graded] = []
    found += graded("ada", "01_one", verdict(sandboxed=False), verdict(exercise="halve", sandboxed=False))
    found += graded("bob", "01_one", verdict())
    assert "1 of these submissions was graded without the sandbox." in shown(tmp_path, found)


def test_what_is_handed_in_and_not_graded_is_told(tmp_path):
    text = shown(tmp_path, [*graded("ada", "01_one", verdict())], ungraded=[("bob", "01_one"), ("bob", "02_two")])
    assert text.splitlines()[-2:] == ["Handed in and not graded (`grading grade`):", "    bob: 01_one, 02_two"]
    assert "01_one" in shown(tmp_path, [], ungraded=[("bob", "01_one")])
