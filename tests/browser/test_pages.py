"""Reports and the page that a learner gets back, opened from disk: without a network, and on a telephone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from course.harness.sentences import split_sentence
from course.report import MARKS, Example, Report, Row
from course.report_html import to_html
from grading.coordinator.converters import autograde, generate_feedback
from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.course import Course
from grading.exercises.lesson import load_lesson

from .axe import violations
from .conftest import ROOT, overflow
from .serving import foreign_requests, patient

pytestmark = pytest.mark.browser

LESSON = "02_softmax"
WIDE = "x" * 300
ANSWERS = {
    "softmax": f"""
import torch
from IPython.display import HTML, display

def softmax(x, dim=-1):
    a_name_that_is_long = x - x.amax(0, keepdim=True)  # {WIDE}
    return a_name_that_is_long.exp() / a_name_that_is_long.exp().sum(0, keepdim=True)

print("{WIDE}")
from course import figures
figures.show(figures.row(3)[0], alt="three panels")
display(HTML("<table><tr>" + "<td>a cell</td>" * 40 + "</tr></table><div style='width:2000px'>wide</div>"))
""",
    "entropy": f"def entropy(p, dim=-1):\n    raise ValueError('{WIDE}')",
}
SIZES = {  # a page at 200 % has half the pixels of 1280
    "telephone": {"width": 390, "height": 844},
    "200 %": {"width": 640, "height": 450},
    "400 %": {"width": 320, "height": 225},
    "desk": {"width": 1280, "height": 900},
}


@pytest.fixture(scope="module")
def returned(released_course, browser: Browser) -> Path:
    """The feedback on a hand-in with a known mistake, an error, and things that are too wide for any page."""
    root, student = released_course(LESSON), "wide"
    with (root / "nbgrader_config.py").open("a") as config:
        config.write("c.FeedbackExporter.lesson_text = True\n")
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    exercises = load_lesson(ROOT / "grader_tests" / LESSON)
    hand_in(root, LESSON, student, write_answers(release, {**correct_answers(exercises, 0), **ANSWERS}))
    autograde(Course(root), LESSON, student)
    generate_feedback(Course(root), LESSON, student)
    return root / "feedback" / student / LESSON / f"{LESSON}.html"


@pytest.fixture(params=SIZES)
def screen(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A window of either size without a network."""
    context = patient(browser, viewport=SIZES[request.param], offline=True)
    yield context
    context.close()


@pytest.fixture
def page(screen: BrowserContext, returned: Path) -> Page:
    opened = screen.new_page()
    opened.complaints = []
    opened.on("console", lambda message: opened.complaints.append(message.text))
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.foreign = foreign_requests(opened)
    opened.goto(returned.as_uri())
    return opened


def test_feedback_needs_no_network_and_complains_of_nothing(page):
    for place in page.get_by_role("heading").all():
        place.scroll_into_view_if_needed()
    assert page.foreign == []
    assert page.complaints == []
    assert page.locator("script").count() == 0


def test_feedback_shows_points_reports_and_the_named_mistake(page):
    exercises = load_lesson(ROOT / "grader_tests" / LESSON).exercises
    expected = {
        "softmax": ("partly right", "wrong"),
        "log_softmax": ("right",),
        "softmax_with_temperature": ("right",),
        "entropy": ("wrong",),
    }
    for exercise, statuses in expected.items():
        report = page.locator(f"[role=group][aria-label^='{exercise}: ']")
        expect(report).to_be_visible()
        assert report.inner_text().startswith(tuple(f"{MARKS[status][0]} {exercise}: " for status in statuses))
    known = next(m for m in exercises["softmax"].mistakes if m.name == "normalises_the_first_dimension")
    report = page.locator("[role=group][aria-label^='softmax: ']")
    assert split_sentence(known.text)[0].replace("`", "").replace("*", "") in report.inner_text()
    total = sum(e.points for n, e in exercises.items() if expected[n] == ("right",))
    assert float(page.locator(".total b").inner_text().split()[0]) >= total


def test_points_are_seen_without_scrolling_sideways(page):
    for cell in page.locator(".points .number").all():
        box = cell.bounding_box()
        assert box["x"] + box["width"] <= page.viewport_size["width"]


def test_the_advice_stands_in_the_table_of_points_at_any_size(page):
    advice = page.locator(".points tbody tr", has_text="entropy").locator("td").last
    expect(advice).to_contain_text("Exercise: entropy")
    box, room = advice.bounding_box(), page.locator(".points").bounding_box()
    assert box["width"] > 150
    assert box["x"] + box["width"] <= room["x"] + room["width"] + 1
    assert room["x"] + room["width"] <= page.viewport_size["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_feedback_has_no_violation_of_accessibility(page, theme):
    page.emulate_media(color_scheme=theme)
    assert violations(page) == []
    assert page.locator("th", has_not_text=re.compile(r"\S")).count() == 0


def test_feedback_keeps_system_colours(browser, returned):
    page = patient(browser, forced_colors="active", offline=True).new_page()
    page.goto(returned.as_uri())
    assert violations(page) == []
    page.context.close()


def test_a_print_of_feedback_is_light_and_shows_all_points(browser, returned):
    page = patient(browser, color_scheme="dark", offline=True).new_page()
    page.goto(returned.as_uri())
    by_criterion = page.locator(".attn-report details li", has_text=re.compile(r"\([\d.]+ of [\d.]+\)"))
    assert by_criterion.count() > 10
    assert not by_criterion.first.is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert all(row.is_visible() for row in by_criterion.all())
    assert all(cell.is_visible() for cell in page.locator(".total, .points .number").all())
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()


def test_a_link_in_the_table_of_points_leads_to_the_report(page):
    page.locator(".points a", has_text="entropy").first.click()
    expect(page.locator("[role=group][aria-label^='entropy: ']")).to_be_in_viewport()


def test_equations_are_laid_out_as_equations(page):
    equations = page.locator("math").filter(visible=True)
    assert equations.count() > 20
    for equation in equations.all():
        box = equation.bounding_box()
        assert box["width"] > 4
        assert box["height"] > 4
    fractions = page.locator("math mfrac").filter(visible=True)
    assert fractions.count() > 3
    for fraction in fractions.all():
        above, below = (fraction.locator(f"> :nth-child({n})").bounding_box() for n in (1, 2))
        assert above["y"] + above["height"] <= below["y"] + 1


def test_pictures_are_there_and_described(page):
    for picture in page.locator("img").all():
        assert picture.get_attribute("alt")
        assert picture.evaluate("image => image.complete && image.naturalWidth > 0")


def test_nothing_sticks_out_of_the_feedback_page(page):
    for summary in page.locator("details > summary").all():
        summary.click()
    assert overflow(page) == []


def test_nothing_sticks_out_of_a_report_and_it_is_for_everyone(screen):
    rows = [
        Row(
            "an example with a name that takes more than one line of a narrow screen",
            "wrong",
            "0.5 of 2",
            [Example(WIDE)],
        ),
        Row(f"`{WIDE}`", "right", "2 of 2"),
    ]
    reports = [
        Report(
            "softmax_with_temperature",
            status,
            2.5,
            7.0,
            f"At `{WIDE}`",
            Example(WIDE),
            see=WIDE,
            notes=[WIDE],
            rows=rows,
        )
        for status in MARKS
    ]
    page = screen.new_page()
    page.set_content("".join(map(to_html, reports)))
    assert [one for one in violations(page) if not one.startswith(("document-title", "html-has-lang"))] == []
    for report, status in zip(page.locator(".attn-report").all(), MARKS, strict=True):
        assert report.inner_text().startswith(f"{MARKS[status][0]} softmax_with_temperature")
    assert overflow(page) == []
