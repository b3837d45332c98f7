"""The pictures in README and docs show what the course shows today."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser

from course.notebook import session
from course.notebook.check import check_report
from course.report_html import to_html
from grading.class_report.html_page import class_page
from grading.class_report.mistake_texts import MistakeTexts

from .conftest import ROOT
from .pictured import ANSWERS, LESSON, WRONG, feedback_page, review_page, sample_class, shown_lines
from .screenshots import stored_words
from .serving import patient

pytestmark = pytest.mark.browser

IMAGES = ROOT / "docs" / "images"


@pytest.fixture
def shown(browser: Browser) -> Iterator[Callable[[str], list[str]]]:
    """shown(html): the words of a page."""
    page = patient(browser).new_page()

    def lines(html: str) -> list[str]:
        page.set_content(html)
        return shown_lines(page)

    yield lines
    page.context.close()


def up_to_date(name: str, now: list[str]) -> None:
    """The picture shows the first lines of `now`."""
    pictured = stored_words(IMAGES / f"{name}.png")
    assert pictured
    assert now[: len(pictured)] == pictured, f"{name}.png is out of date: run `make screenshots`, and look at it"


def test_the_feedback_page(shown):
    up_to_date("report", shown(feedback_page()))


def test_the_class(shown):
    up_to_date("class", shown(class_page(sample_class(), "A sample class", MistakeTexts(ROOT))))


def test_the_report_of_a_check(shown, monkeypatch):
    session.renew(lesson=LESSON)
    names: dict[str, object] = {}
    exec(WRONG, names)
    up_to_date("check", shown(to_html(check_report(session.current(), names["softmax"]))))


def test_the_review_page(browser, tmp_path: Path):
    with review_page(browser, tmp_path / "course") as page:
        up_to_date("review", shown_lines(page, but=ANSWERS))


@pytest.mark.parametrize("name", ["site", "slider"])
def test_the_lesson(name):
    release = nbformat.read(ROOT / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    text = " ".join(" ".join(cell.source for cell in release.cells).split())
    pictured = stored_words(IMAGES / f"{name}.png")
    assert pictured
    for line in pictured:
        assert line.replace("’", "'") in text, f"{name}.png is out of date: run `make screenshots`, and look at it"
