"""A report in its four forms: well-formed HTML that stands alone, text, JSON, and no state by colour alone."""

from __future__ import annotations

import io
import json
import re
import sys
from itertools import combinations
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from course.report import MARKS, MIME, ONE_LINE, CodeNote, Example, Points, Report, Row, display
from course.report_html import STYLE, to_html

TAGS = {"a", "code", "details", "div", "em", "li", "mark", "p", "pre", "span", "summary", "ul"}
HOSTILE = "<script>alert(1)</script> & \"quotes\" 'single' <img src=x onerror=alert(1)> </pre></style></div>"
CASE = Example("softmax(x)", "`weights`:", "[0.25, 0.75]", "[ 0.5, 0.75]", [(1, 5)], "line 2 of f: y", "loud")


def full(status: str = "wrong", **changed) -> Report:
    """A report with everything that a report can have."""
    fields = {
        "exercise": "softmax",
        "status": status,
        "earned": 2.5,
        "points": 7.0,
        "headline": "Each *column* sums to 1.",
        "example": CASE,
        "advice": "Look at `dim`.",
        "see": "Exercise 1: `softmax(x, dim=-1)`",
        "notes": ["A note."],
        "rows": [
            Row("in each row", "right", "2 of 2"),
            Row("no `dim`", "wrong", "0.5 of 5", [Example("line 1\n  line 2")]),
        ],
        "output": [CodeNote("Printed by `f`:", "much")],
        "details": ["The grade has other cases."],
    }
    return Report(**{**fields, **changed})


def parsed(html: str) -> ElementTree.Element:
    """Parse by an XML parser, which forgives nothing."""
    return ElementTree.fromstring(html)


def page(report: Report, **options) -> ElementTree.Element:
    return parsed(to_html(report, style=False, **options))


def text_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize("status", MARKS)
def test_every_report_is_well_formed_and_stands_alone(status):
    assert {element.tag for element in page(full(status)).iter()} <= TAGS
    html = to_html(full(status))
    assert html.endswith(f"</div>\n<style>{STYLE}</style>")
    assert not re.search(r"\burl\(|\bsrc=|\bhref=(?!.#)|\bid=|http|@import|<script", html)


def test_the_parts_come_in_order_and_the_rest_is_folded():
    text = full().to_text()
    assert text.splitlines() == [
        "✗ softmax: 2.5 of 7 points",
        "  Each *column* sums to 1.",
        "  softmax(x)",
        "      `weights`:",
        "      expected [0.25, 0.75]",
        "           got [ 0.5, 0.75]",
        "                ^^^^",
        "      line 2 of f: y",
        "      printed:",
        "        loud",
        "  Look at `dim`.",
        "  A note.",
        "  Look at: Exercise 1: `softmax(x, dim=-1)`",
    ]
    assert full().to_text(more="(all: here)") == f"{text}  (all: here)"
    assert full().to_text(everything=True, more="(all: here)").splitlines()[13:] == [
        "  ✓ in each row (2 of 2)",
        "  ✗ no `dim` (0.5 of 5)",
        "      line 1",
        "        line 2",
        "  Printed by `f`:",
        "      much",
        "  The grade has other cases.",
    ]


def test_html_says_all_that_text_says_in_the_same_order():
    whole = page(full())
    (fold,) = whole.iter("details")
    marks = re.compile(r"[`*^]")
    html = " ".join(
        marks.sub("", text_of(whole)).replace("Points for each requirement, all failing cases (1 of 2 met)", "").split()
    )
    text = " ".join(marks.sub("", full().to_text(everything=True)).split())
    assert html.replace(" ", "") == text.replace(" ", "")
    assert "in each row" in text_of(fold)
    assert "loud" not in text_of(fold)


@pytest.mark.parametrize("status", ONE_LINE)
def test_where_nothing_is_wrong_one_line_is_seen(status):
    report = Report("softmax", status, 7.0, 7.0, "All pass.", rows=[Row("values", "right", "7 of 7")])
    assert "\n" not in report.to_text(more="(all: here)")
    html = page(report)
    assert [element.tag for element in html] == ["p", "details"]
    assert "All pass." in text_of(html[0])


def test_wrong_entries_are_marked_in_both_values():
    pre = next(page(full()).iter("pre"))
    assert [mark.text for mark in pre.iter("mark")] == ["0.25", " 0.5"]


@pytest.mark.parametrize(
    "report",
    [
        full(exercise=HOSTILE),
        full(headline=HOSTILE),
        full(advice=HOSTILE),
        full(see=HOSTILE),
        full(notes=[HOSTILE]),
        full(details=[HOSTILE]),
        full(output=[CodeNote(HOSTILE, "")]),
        full(output=[CodeNote("", HOSTILE)]),
        full(rows=[Row(HOSTILE, "wrong")]),
        full(rows=[Row("row", "wrong", HOSTILE)]),
        *(
            full(example=Example(**{"call": "f()", "expected": "1", name: HOSTILE}))
            for name in ("call", "problem", "code")
        ),
        full(example=Example("f()", "", HOSTILE, HOSTILE, [(0, 5)])),
        full(example=Example("f()", printed=HOSTILE)),
        full(headline=f"`{HOSTILE}` and *{HOSTILE}*"),
    ],
)
def test_what_a_student_writes_is_shown_and_never_obeyed(report):
    html = page(report)
    assert {element.tag for element in html.iter()} <= TAGS
    assert " ".join(HOSTILE.split()) in text_of(html)
    assert not [name for element in html.iter() for name in element.attrib if name.startswith("on")]


def test_code_and_emphasis_are_marked_up_and_a_lone_star_stays():
    html = page(full(headline="`a*b` is *not* `b*a`, and 2 * 3 `open"))
    assert [element.text for element in html.iter("code")][:3] == ["softmax", "a*b", "b*a"]
    assert [element.text for element in html.iter("em")] == ["not"]
    assert "2 * 3" in text_of(html)


def test_a_section_is_a_link_where_one_leads_there():
    (link,) = page(full(), links={full().see: "#section-1"}).iter("a")
    assert (link.attrib["href"], text_of(link)) == ("#section-1", "Exercise 1: softmax(x, dim=-1)")


@pytest.mark.parametrize(
    ("section", "address"),
    [
        ("3. A thousand is too much", "#3.-A-thousand-is-too-much"),
        ("Exercise 1: `softmax(x, dim=-1)`", "#Exercise-1:-softmax(x,-dim=-1)"),
        ("And why not divide by $K$?", ""),
        ("Zürich", ""),
    ],
)
def test_in_a_notebook_a_section_is_a_link_to_its_heading(section, address):
    assert [link.attrib["href"] for link in page(full(see=section)).iter("a")] == [address] * bool(address)
    assert not list(page(full(see=section), links={}).iter("a"))


@pytest.mark.parametrize("pair", list(combinations(MARKS, 2)), ids=" and ".join)
def test_any_two_states_differ_by_mark_and_by_word(pair):
    (one, first, _), (other, second, _) = (MARKS[status] for status in pair)
    assert one != other
    assert first != second


@pytest.mark.parametrize("status", MARKS)
def test_a_state_comes_first_and_without_colour(status):
    mark, word, tone = MARKS[status]
    html = page(full(status))
    assert text_of(html).startswith(f"{mark} softmax: ")
    assert html.attrib["aria-label"] == f"softmax: {word}"
    assert f".attn-{tone} {{" in STYLE
    head = full(status).to_text().splitlines()[0]
    assert head.startswith(f"{mark} softmax: ")
    assert word in head or "2.5 of 7 points" in head


def test_one_point_is_not_called_points():
    assert full(earned=0.0, points=1.0).head == "0 of 1 point"


def test_the_record_is_json_and_beside_the_html():
    bundle = full()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain", MIME}
    record = json.loads(json.dumps(bundle[MIME]))
    assert (record["version"], record["headline"], record["points"], record["most"]) == (1, full().headline, 2.5, 7.0)
    assert Example.from_json(record["example"]) == CASE
    assert record["criteria"][1]["cases"][0]["call"] == "line 1\n  line 2"


def test_points_print_as_one_plain_float_which_nbgrader_reads():
    points = Points(2.5, 7.0)
    assert repr(points) == str(points) == "2.5"
    assert points + 1 == 3.5
    marks = {"grade": True, "grade_id": "check_softmax", "locked": True, "points": 7, "schema_version": 3}
    output = new_output("execute_result", data={"text/plain": repr(points)}, execution_count=1)
    cell = new_code_cell("check(softmax)", outputs=[output], metadata={"nbgrader": {**marks, "solution": False}})
    assert determine_grade(cell) == (2.5, 7)


def test_a_terminal_without_the_marks_gets_the_words(monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", screen)
    display(full(), everything=True)
    screen.seek(0)
    text = screen.read()
    assert text.startswith("x softmax: 2.5 of 7 points")
    assert "\n  + " in text
    assert "\n  x " in text
