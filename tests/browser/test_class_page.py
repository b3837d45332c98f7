"""The class page: both themes, system colours, a zoom of 400 %, and paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from grading.class_report.html_page import class_page
from grading.class_report.mistake_texts import MistakeTexts

from .axe import violations
from .conftest import ROOT, overflow
from .pictured import sample_class
from .serving import patient

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("class") / "class.html"
    file.write_text(class_page(sample_class(students=3), "A class", MistakeTexts(ROOT)), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_for_everyone_at_any_zoom(browser: Browser, address, theme):
    for width in (1280, 320):  # 1280 pixels at 400 % are 320
        page = patient(browser, viewport={"width": width, "height": 900}, color_scheme=theme).new_page()
        page.goto(address)
        for summary in page.locator("summary").all():
            summary.click()
        assert violations(page) == []
        assert overflow(page) == []
        page.context.close()


def test_system_colours_are_kept(browser: Browser, address):
    page = patient(browser, forced_colors="active").new_page()
    page.goto(address)
    assert violations(page) == []
    page.context.close()


def test_a_print_is_light_and_has_what_is_folded(browser: Browser, address):
    page = patient(browser, color_scheme="dark").new_page()
    page.goto(address)
    folded = page.locator("details").get_by_role("table").first
    assert not folded.is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert folded.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()
