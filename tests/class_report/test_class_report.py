"""What a class did, told in a terminal, on a page and in tables: from five students to three hundred, and from none."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup
from rich.console import Console

from grading.class_report.at_risk import concerns
from grading.class_report.console import shortened, show_class
from grading.class_report.csv_tables import write
from grading.class_report.html_page import class_page
from grading.class_report.item_analysis import items
from grading.class_report.mistake_texts import MistakeTexts
from grading.class_report.mistakes import by_family, named, unnamed
from grading.class_report.model import Answer, ClassGrades, Submission
from grading.class_report.similarity import pairs
from grading.grader.verdict import CriterionVerdict, ExerciseVerdict, needs_a_person

from ..support.course_builder import build_course
from ..support.html_pages import parse_html

EIGHT = [f"{number:02}_topic" for number in range(1, 9)]
LONG = """
def answer_{n}(queries, keys):
    total = 0
    for first in range(len(queries)):
        for second in range(len(keys)):
            total = total + queries[first] * keys[second] ** {n}
            if total > 10 * first - {n}:
                total = total % (second + {n})
    while total < {n}:
        total += sum(one * two for one, two in zip(queries, keys)) + {n}
    return [total, {n}, max(queries), min(keys)]
"""


@pytest.fixture
def graders(tmp_path: Path) -> MistakeTexts:
    return MistakeTexts(build_course(tmp_path / "course"))


def verdict(earned: float = 5, status: str = "", exercise: str = "double", **more: Any) -> ExerciseVerdict:
    status = status or ("right" if earned == 5 else "wrong" if not earned else "partly right")
    return ExerciseVerdict(exercise, 5, earned, status, **more)


def answer(student: str, found: ExerciseVerdict, lesson: str = "01_double", **more: Any) -> Answer:
    open_ = found.status == "needs a person"
    return Answer(student, lesson, None if open_ else found.earned, found, open_, **more)


def course(*answers: Answer, ungraded: Any = ()) -> ClassGrades:
    """The submissions that hold these answers."""
    whose = dict.fromkeys((a.student, a.lesson) for a in answers)
    submissions = []
    for student, lesson in whose:
        own = [a for a in answers if (a.student, a.lesson) == (student, lesson)]
        points, most = sum(a.points or 0 for a in own), sum(a.verdict.points for a in own)
        waits = any(a.points is None for a in own)
        submissions.append(Submission(student, lesson, points, most, datetime(2026, 10, 1, tzinfo=UTC), waits))
    return ClassGrades(answers, submissions, ungraded)


def in_terminal(of: ClassGrades, graders: MistakeTexts, *, width: int = 80, students: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    show_class(of, graders, console, students=students)
    return console.file.getvalue()


def test_without_grades_it_says_what_to_do(graders):
    assert "grading grade" in in_terminal(course(), graders)


def test_eight_lessons_and_long_names_fit_into_eighty_columns(graders):
    names = ["ada", "a_very_long_name_from_moodle_1234567", "a_very_long_name_from_moodle_7654321"]
    of = course(*(answer(name, verdict(3.5), lesson) for name in names for lesson in EIGHT))
    lines = in_terminal(of, graders, students=True).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[1:] for line in lines if line.startswith("student")] == [[lesson[:2] for lesson in EIGHT]]
    rows = [line for line in lines if "3.5/5" in line]
    assert [row.split()[1:] for row in rows] == [["3.5/5"] * 8] * 3
    assert len({row.split()[0] for row in rows}) == 3  # what tells the two long names apart is still there


def test_lessons_that_do_not_fit_stand_below_and_nothing_is_cut(graders):
    lessons = [f"{number:02}_topic" for number in range(13)]
    of = course(*(answer(name, verdict(3.25), lesson) for name in ("sample-dara", "sample-emil") for lesson in lessons))
    lines = in_terminal(of, graders, students=True).splitlines()
    assert max(map(len, lines)) <= 80
    heads = [line.split()[1:] for line in lines if line.startswith("student")]
    assert len(heads) > 1 and [*chain(*heads)] == [lesson[:2] for lesson in lessons]
    for name in ("sample-dara", "sample-emil"):
        rows = [line.split()[1:] for line in lines if line.startswith(f"{name} ")]
        assert [*chain(*rows)] == ["3.25/5"] * 13


def test_lessons_of_one_number_keep_their_names_and_what_is_missing_is_no_zero(graders):
    of = course(
        answer("ada", verdict(), "01_one"), answer("ada", verdict(0), "01_other"), answer("bob", verdict(), "02_two")
    )
    lines = in_terminal(of, graders, students=True).splitlines()
    assert next(line for line in lines if line.startswith("student")).split() == ["student", "01_one", "01_other", "02"]
    assert [line.split() for line in lines if "/5" in line] == [["ada", "5/5", "0/5", "–"], ["bob", "–", "–", "5/5"]]


def test_everyones_points_are_shown_on_request_and_never_flood_what_comes_first(graders):
    of = course(*(answer(f"student-{n:03}", needs_a_person("double", 5, "cut off")) for n in range(200)))
    text = in_terminal(of, graders)
    assert len(text.splitlines()) < 40
    assert "and 190 more" in text
    assert "grading report --students" in text
    assert in_terminal(of, graders, students=True).count("0/5*") == 200


@pytest.mark.parametrize(
    ("name", "short"), [("ada", "ada"), ("x" * 16, "x" * 16), ("jane_smith_of_the_long_name_2041", "jane_smith…_2041")]
)
def test_a_long_name_keeps_both_ends(name, short):
    assert shortened(name, 16) == short


def test_the_three_most_frequent_mistakes_are_told_with_their_text(graders):
    squares = {"mistake": "squares", "section": "To double"}
    of = course(
        *(answer(name, verdict(0, **squares)) for name in ("ada", "bob", "dan")),
        answer("cem", verdict(3, mistake="loses_the_gradient")),
        answer("eve", verdict()),
        answer("fay", verdict(0, exercise="halve", mistake="squares"), "02_halve"),
        answer("gil", verdict(0, mistake="a_fourth_one")),
    )
    assert [(one.count, one.exercise, one.name) for one in named(of.answers)] == [
        (3, "double", "squares"),
        (1, "double", "a_fourth_one"),
        (1, "double", "loses_the_gradient"),
        (1, "halve", "squares"),
    ]
    text = in_terminal(of, graders)
    assert "3 × squares in double (01_double; see “To double”)\n    That is the *square*." in text
    assert "1 × loses the gradient in double" in text
    assert text.count(" × ") == 3


def test_a_mistake_has_the_sentences_of_the_students_report(graders):
    said = "You *square* it, so the result is too large for all but 0 and 2. Add `x` to itself, or double it."
    (mistakes,) = graders.root.glob("grader_tests/01_double/**/mistakes.py")
    mistakes.write_text(mistakes.read_text().replace("That is the *square*.", said))
    of = course(answer("ada", verdict(0, mistake="squares")))
    assert [line.rstrip() for line in in_terminal(of, graders, width=60).splitlines()[1:4]] == [
        "    You *square* it, so the result is too large for all but",
        "    0 and 2.",
        "    Add `x` to itself, or double it.",
    ]
    page = class_page(of, "A class", graders)
    paragraphs = [Markup(text).striptags() for text in re.findall("<p>(.*?)</p>", page)]
    assert paragraphs.count("You square it, so the result is too large for all but 0 and 2.") == 1
    assert paragraphs.count("Add x to itself, or double it.") == 1
    assert page.count("to itself") == 1


def test_of_two_mistakes_at_once_both_count_and_what_is_only_likely_is_told_apart():
    gradients = {"second_mistake": "loses_the_gradient", "second_section": "Gradients"}
    two = verdict(0, mistake="squares", section="To double", **gradients)
    likely = verdict(0, mistake="squares", certain=False)
    found = named(
        [
            answer("ada", two, source="long answer"),
            answer("bob", likely),
            answer("cem", verdict(0, mistake="squares"), source="x"),
        ]
    )
    assert [(one.name, one.count, one.likely, one.example) for one in found] == [
        ("squares", 2, 1, "x"),
        ("loses_the_gradient", 1, 0, ""),
    ]
    assert {one.name: one.see for one in found}["loses_the_gradient"] == "Gradients"


def test_mistakes_of_one_family_are_added_up_over_exercises(graders):
    cut, assertion = {"family": "gradient-cut"}, {"family": "assert"}
    of = course(
        answer("ada", verdict(0, mistake="detached", **cut)),
        answer("ada", verdict(0, exercise="halve", mistake="cuts", **cut)),
        answer(
            "bob", verdict(0, mistake="asserts", second_mistake="detached", second_family="gradient-cut", **assertion)
        ),
        answer("cem", verdict(0, mistake="detached", certain=False, **cut)),
        answer("dan", verdict(0, mistake="squares")),
    )
    assert [(one.family, one.students, one.count, one.exercises) for one in by_family(of.answers)] == [
        ("gradient-cut", 2, 3, ("double", "halve")),
        ("assert", 1, 1, ("double",)),
    ]
    row = '<th scope="row">gradient cut</th><td>2</td><td>3</td><td>double, halve</td>'
    assert row in class_page(of, "Class", graders)


def test_wrong_answers_without_a_name_are_grouped_by_what_they_do_alike():
    def lost(criterion: str, rung: str, finding: str) -> ExerciseVerdict:
        wrong = CriterionVerdict(criterion, 3, 0, "wrong", stage=rung, finding=finding)
        return verdict(2, criteria=[wrong, CriterionVerdict("other", 2, 2, "right")])

    found = unnamed(
        [
            answer(
                "ada", lost("values", "values", "12 of 15 values differ"), source="def double(x):\n    return x + 1"
            ),
            answer("bob", lost("values", "values", "3 of 15 values differ"), source="x"),
            answer("cem", lost("values", "shape", "the shape is (3,)")),
            answer("dan", verdict()),
        ]
    )
    assert [(one.count, one.criteria, one.finding, one.example) for one in found] == [
        (2, ("values",), "12 of 15 values differ", "x")
    ]


def test_what_needs_a_person_is_told_with_why_and_is_in_no_mean(graders):
    of = course(
        answer("ada", needs_a_person("double", 5, "The file is cut off.")),
        answer("bob", verdict()),
        ungraded=[("eve", "01_double"), ("eve", "02_halve")],
    )
    text = in_terminal(of, graders, students=True)
    assert "    ada, 01_double: double" in text
    assert "    eve: 01_double, 02_halve" in text
    assert "100–100 %" in text
    assert re.search(r"ada +0/5\*", text)
    page = class_page(of, "Class", graders)
    assert "ada, 01_double: The file is cut off." in page
    assert "0*" in page
    assert [one.answers for one in items(of)] == [1]


def test_grades_made_without_the_sandbox_are_counted(graders):
    loose = [answer("ada", verdict(sandboxed=False)), answer("ada", verdict(exercise="halve", sandboxed=False))]
    text = in_terminal(course(*loose, answer("bob", verdict())), graders)
    assert "1 of these submissions was graded without the sandbox." in text


def test_easiness_is_of_who_began_and_discrimination_tells_who_does_well_elsewhere():
    def both(student: str, one: float, other: float, status: str = "") -> list[Answer]:
        return [answer(student, verdict(one, status, "double")), answer(student, verdict(other, exercise="halve"))]

    good = [a for n in range(6) for a in both(f"good-{n}", 5, 5)]
    poor = [a for n in range(6) for a in both(f"poor-{n}", 0, 0)]
    absent = [a for n in range(4) for a in both(f"absent-{n}", 0, 5, "not started")]
    found = {one.exercise: one for one in items(course(*good, *poor, *absent))}
    assert found["double"].easiness == pytest.approx(0.5)
    assert found["double"].begun == pytest.approx(0.75)
    assert found["double"].discrimination == pytest.approx(1)
    few = {one.exercise: one for one in items(course(*good[:8]))}
    assert few["double"].discrimination is None
    same = {one.exercise: one for one in items(course(*good, *(a for n in range(9) for a in both(f"g-{n}", 5, 5))))}
    assert same["double"].discrimination is None


def test_who_may_need_help_is_told_with_the_reason():
    fine = [answer(f"s-{n}", verdict(), lesson) for n in range(5) for lesson in EIGHT[:3]]
    falling = [answer("ada", verdict(5 if lesson == EIGHT[0] else 1), lesson) for lesson in EIGHT[:3]]
    missing = [answer("bob", verdict(), lesson) for lesson in EIGHT[:2]]
    assert [(one.student, one.why) for one in concerns(course(*fine, *falling, *missing))] == [
        ("ada", (f"under half of the points in {EIGHT[1]} and {EIGHT[2]}",)),
        ("bob", (f"has not handed in {EIGHT[2]}",)),
    ]


def test_who_is_excused_misses_nothing_and_counts_as_no_one_who_could_have_handed_in():
    both = [answer(name, verdict(), lesson) for name in ("ada", "bob") for lesson in EIGHT[:2]]
    few = [answer(name, verdict(), EIGHT[1]) for name in ("cem", "dan", "eve")]
    free = [("cem", EIGHT[0]), ("dan", EIGHT[0])]
    assert concerns(course(*both, *few)) == []  # two of five handed it in
    assert [one.student for one in concerns(replace(course(*both, *few), excused=free))] == ["eve"]  # two of three


def test_nobody_needs_help_because_of_a_warm_up():
    done = [answer(f"s-{n}", verdict(), lesson) for n in range(5) for lesson in (*EIGHT[:2], "90_tensors")]
    without = [answer("ada", verdict(), lesson) for lesson in EIGHT[:2]]
    badly = [answer("bob", verdict(points), lesson) for lesson, points in zip((*EIGHT[:2], "90_tensors"), (5, 1, 1))]
    assert concerns(course(*done, *without, *badly)) == []


def test_a_copy_with_other_names_and_comments_is_alike_and_what_is_common_is_not():
    copied = LONG.format(n=7)
    renamed = "# all my own work\n" + copied.replace("queries", "q").replace("total", "acc").replace("first", "i")
    others = [
        answer(f"own-{n}", verdict(), source=LONG.format(n=n).replace("while", f"print({n})\n    while")[n * 12 :])
        for n in range(2)
    ]
    short = [answer(f"short-{n}", verdict(), source="def double(x):\n    return 2 * x") for n in range(2)]
    both = [answer("ada", verdict(), source=copied), answer("bob", verdict(), source=renamed)]
    found = pairs([*both, *others, *short], lambda lesson, exercise: [])
    assert [(one.students, one.exercises) for one in found] == [(("ada", "bob"), ("double",))]
    assert found[0].share > 0.9
    assert not pairs(both, lambda lesson, exercise: [copied])  # the graders know it as an answer
    many = [answer(f"all-{n}", verdict(), source=copied) for n in range(5)]
    assert not pairs(many, lambda lesson, exercise: [])


@pytest.mark.quick_cases("0", "5")
@pytest.mark.parametrize("number", [0, 1, 5, 300])
def test_the_page_is_sound_html_that_asks_for_nothing_from_elsewhere(graders, number):
    evil = "<script>alert(1)</script>"
    answers = [
        answer(f"student-{n:03}", verdict(5 if n % 3 else 0, mistake="" if n % 3 else "squares"), lesson, source=evil)
        for n in range(number)
        for lesson in EIGHT
    ]
    page = class_page(course(*answers, ungraded=[(evil, "01_double")]), "A class", graders)
    parse_html(page, strict=True)
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page.replace("xlink:", ""))
    assert len(page) < 1_000_000
    assert page.count("student-000") >= (number > 0)


def test_anonymous_names_keep_people_apart_and_tell_nobody(graders):
    of = course(*(answer(name, verdict(points), source="x") for name, points in (("ada", 5), ("bob", 0), ("cem", 3))))
    hidden = of.anonymous("a secret")
    assert len(hidden.students) == 3
    shown = class_page(hidden, "A class", graders) + in_terminal(hidden, graders, students=True)
    assert not re.search(r"\b(ada|bob|cem)\b", shown)
    assert sorted(s.points for s in hidden.submissions) == [0, 3, 5]
    orders = {tuple(s.student for s in of.anonymous(str(n)).submissions) for n in range(20)}
    assert len(orders) > 1


def test_the_tables_hold_what_the_page_shows_and_no_formula(graders, tmp_path):
    of = course(
        answer("=ada", verdict(0, mistake="squares", section="To double"), source="x"), answer("bob", verdict())
    )
    files = {path.name: path for path in write(of, graders, tmp_path / "tables")}
    rows = {name: list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig")))) for name, path in files.items()}
    assert [list(row.items())[5:] for row in rows["mistakes.csv"]] == [
        [("see", "To double"), ("headline", "That is the *square*."), ("advice", ""), ("example", "x")]
    ]
    assert rows["families.csv"] == []
    assert [row["student"] for row in rows["students.csv"]] == ["'=ada", "bob"]
    assert rows["criteria.csv"][0]["easiness"] == "0.5"
    assert rows["points.csv"] == [{"student": "'=ada", "01_double": "0"}, {"student": "bob", "01_double": "5"}]
    assert rows["without-a-name.csv"] == []


def test_signs_of_a_table_or_a_spy_are_for_the_teacher(graders):
    spied = answer("eve", verdict(0, signs=["spy", "made up by a judge"]))
    course = ClassGrades([spied, answer("ada", verdict())], [Submission("eve", "01_double", 0, 5)])
    said = io.StringIO()
    show_class(course, graders, Console(file=said, width=200))
    for text in (said.getvalue(), class_page(course, "A class", graders)):
        assert "eve, 01_double" in text and "keeps what it is called with" in text and "made up" not in text
