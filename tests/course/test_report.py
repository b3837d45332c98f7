"""How a report looks: well-formed HTML that stands alone, nothing of a student's let through, no state by colour."""

from __future__ import annotations

import io
import re
import sys
from itertools import combinations
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from course.report import MARKS, Points, Report, Row, display

TAGS = {"div", "span", "b", "code", "em", "p", "ul", "li", "pre"}
HOSTILE = "<script>alert(1)</script> & \"quotes\" 'single' <img src=x onerror=alert(1)> </pre></div>"


def full(status: str = "wrong", **changed) -> Report:
    """A report with everything that a report can have."""
    fields = {
        "exercise": "softmax",
        "status": status,
        "earned": 2.5,
        "points": 7.0,
        "rows": [Row("in each row", "right", "2 of 2"), Row("no `dim`", status, "0.5 of 5", ["line 1\n  line 2"])],
        "headline": "Each *column* sums to 1: look at `dim`.",
        "see": "Exercise 1: `softmax(x, dim=-1)`",
        "notes": ["A note."],
        "footnote": "The hidden cases are more.",
    }
    return Report(**{**fields, **changed})


def parsed(html: str) -> ElementTree.Element:
    """By an XML parser, which forgives nothing; the one entity that XML does not know is put in its place."""
    return ElementTree.fromstring(html.replace("&nbsp;", "\N{NO-BREAK SPACE}"))


def text_of(html: str) -> str:
    return " ".join("".join(parsed(html).itertext()).split())


@pytest.mark.parametrize("status", MARKS)
def test_every_report_is_well_formed_and_stands_alone(status):
    html = full(status).to_html()
    tags = {element.tag for element in parsed(html).iter()}
    assert tags <= TAGS
    assert not re.search(r"\burl\(|\bsrc=|\bhref=|\bclass=|\bid=|http|<style|<script", html)


def test_a_report_of_nothing_is_well_formed():
    assert text_of(Report("softmax", "not started", 0.0, 7.0).to_html()) == "○ not started softmax0 of 7 points"


@pytest.mark.parametrize(
    "report",
    [
        full(exercise=HOSTILE),
        full(headline=HOSTILE),
        full(see=HOSTILE),
        full(notes=[HOSTILE]),
        full(footnote=HOSTILE),
        full(rows=[Row(HOSTILE, "wrong")]),
        full(rows=[Row("row", "wrong", HOSTILE)]),
        full(rows=[Row("row", "wrong", "", [HOSTILE])]),
        full(headline=f"`{HOSTILE}` and *{HOSTILE}*"),
    ],
    ids=["exercise", "headline", "see", "note", "footnote", "name", "points", "details", "marked up"],
)
def test_what_a_student_writes_is_shown_and_never_obeyed(report):
    html = report.to_html()
    assert {element.tag for element in parsed(html).iter()} <= TAGS
    assert " ".join(HOSTILE.split()) in text_of(html)
    assert not [name for element in parsed(html).iter() for name in element.attrib if name.startswith("on")]


def test_code_and_emphasis_are_marked_up_and_a_lone_star_stays():
    html = full(headline="`a*b` is *not* `b*a`, and 2 * 3 `open").to_html()
    codes = [element.text for element in parsed(html).iter("code")]
    assert codes[:3] == ["softmax", "a*b", "b*a"]
    assert [element.text for element in parsed(html).iter("em")] == ["not"]
    assert "2 * 3" in text_of(html)


@pytest.mark.parametrize("pair", list(combinations(MARKS, 2)), ids=" and ".join)
def test_any_two_states_differ_by_mark_and_by_word(pair):
    (one, first, _), (other, second, _) = (MARKS[status] for status in pair)
    assert one != other
    assert first != second


@pytest.mark.parametrize("status", MARKS)
def test_a_state_is_told_first_and_without_colour(status):
    mark, word, _ = MARKS[status]
    report = full(status)
    plain = re.sub(r' style="[^"]*"', "", report.to_html())
    assert text_of(plain).startswith(f"{mark} {word}")
    assert parsed(plain).attrib["aria-label"] == f"softmax: {word}"
    earned = "open," if status == "needs a person" else "2.5"
    assert report.to_text().startswith(f"{mark} {word}: softmax, {earned} of 7 points")
    items = ["".join(item.itertext()).strip() for item in parsed(plain).iter("li")]
    assert items[0].startswith(MARKS["right"][0])
    assert items[1].startswith(mark)


@pytest.mark.parametrize("status", MARKS)
def test_every_text_can_be_read_on_its_ground(status):
    """Contrast of at least 4.5 to 1, as WCAG 2 asks for text of this size."""

    def luminance(colour: str) -> float:
        full = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
        parts = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def walk(element: ElementTree.Element, ink: str, ground: str) -> None:
        style = dict(part.split(":", 1) for part in element.attrib.get("style", "").split(";") if ":" in part)
        ink = style.get("color", ink)
        ground = style.get("background", ground) if style.get("background", "none") != "none" else ground
        if (element.text or "").strip():
            darker, lighter = sorted((luminance(ink), luminance(ground)))
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (ink, ground, element.text)
            seen.append(element.text)
        for child in element:
            walk(child, ink, ground)

    seen: list[str | None] = []
    walk(parsed(full(status).to_html()), "", "")
    assert len(seen) > 10


def test_text_says_all_that_html_says():
    report = full()
    text, html = report.to_text(), text_of(report.to_html())
    words = [
        "softmax",
        "2.5 of 7 points",
        "in each row",
        "2 of 2",
        "0.5 of 5",
        "line 1",
        "line 2",
        "A note.",
        "The hidden cases are more.",
    ]
    for word in words:
        assert word in text
        assert word in html


def test_text_keeps_the_lines_of_details_together():
    assert "      line 1\n        line 2\n" in full().to_text()


def test_points_print_as_one_plain_float_which_nbgrader_reads():
    points = Points(2.5, 7.0)
    assert repr(points) == str(points) == "2.5"
    assert points + 1 == 3.5
    assert "display:none" in points._repr_html_(), "the report above has said it"
    marks = {"grade": True, "grade_id": "check_softmax", "locked": True, "points": 7, "schema_version": 3}
    output = new_output("execute_result", data={"text/plain": repr(points)}, execution_count=1)
    cell = new_code_cell("check(softmax)", outputs=[output], metadata={"nbgrader": {**marks, "solution": False}})
    assert determine_grade(cell) == (2.5, 7)


def test_a_terminal_without_the_marks_gets_the_words(monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", screen)
    display(full())
    screen.seek(0)
    text = screen.read()
    assert text.startswith("x not right yet: softmax, 2.5 of 7 points")
    assert "\n  + " in text
    assert "\n  x " in text
