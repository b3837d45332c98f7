"""A site in a real browser: sliders by keyboard, search, formulas, both themes, wide and narrow, print.

Does not cover: what is on its pages (tests/plugins/site).
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser, expect
from rich.console import Console

from grading.course import Course
from grading.course_dir.paths import CONFIG
from grading.plugins.site.build import build_site

from .axe import violations
from .conftest import overflow
from .serving import foreign_requests, patient

pytestmark = [pytest.mark.full("builds the site of a lesson"), pytest.mark.browser]

LESSON = """# @title Bars that grow
from course import figures, sliders

def draw(k, t):
    return figures.with_alt_text(figures.bars([float(k), t]), f"bars of {k} and {t}")

sliders.slider(draw, k=(1, 3, 1), t=[0.5, 2.0], start={"k": 2, "t": 0.5})"""
TEXT = """# How alike?

Here $a_i \\cdot b$, and with `a_name_that_is_very_long(of_something, and_of_something_else, and_more)`

$$\\sum_{i=1}^{n} a_i b_i = a_1 b_1 + a_2 b_2 + a_3 b_3 + a_4 b_4 + a_5 b_5 + a_6 b_6 + a_7 b_7 + a_8 b_8 + a_9 b_9$$

A causal mask hides what comes later.

## A table for `a_function_with_a_long_name(of_something)`

| letter | counts |
|---|---|
| `B` | examples |

<details><summary>Answer</summary>

Four.
</details>"""


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    (root / CONFIG).write_text("c = get_config()\n")
    (root / "source").mkdir()
    (root / "source" / "01_alike.py").touch()
    (root / "release" / "01_alike").mkdir(parents=True)
    cells = [
        new_markdown_cell(TEXT),
        new_code_cell(f"print('x' * 300)\n# {'y' * 98}"),
        new_code_cell(LESSON, metadata={"tags": ["picture"]}),
        new_code_cell("from course import check\n\ndef softmax(x):\n    return x\n\ncheck(softmax)"),
    ]
    nbformat.write(new_notebook(cells=cells), root / "release" / "01_alike" / "01_alike.ipynb")
    return build_site(Course(root), root / "site", Console(quiet=True), workers=1).parent


def opened(browser: Browser, site, name="01_alike", *, width=1280, theme="light"):
    page = patient(browser, viewport={"width": width, "height": 900}, color_scheme=theme).new_page()
    page.goto((site / f"{name}.html").as_uri())
    return page


def test_sliders_move_by_keyboard_without_a_kernel(browser, site):
    page = opened(browser, site)
    slider, picture = page.get_by_label("k", exact=True), page.get_by_role("group", name="Sliders").get_by_role("img")
    expect(picture).to_have_attribute("aria-label", "bars of 2 and 0.5")
    slider.focus()
    slider.press("ArrowRight")
    expect(picture).to_have_attribute("aria-label", "bars of 3 and 0.5")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    page.get_by_label("t", exact=True).press("End")
    expect(picture).to_have_attribute("aria-label", "bars of 3 and 2.0")
    slider.press("Home")
    expect(picture).to_have_attribute("aria-label", "bars of 1 and 2.0")
    page.context.close()


def test_code_that_only_draws_is_folded_and_its_title_unfolds_it(browser, site):
    page = opened(browser, site)
    code = page.get_by_text("def draw(k, t):")
    expect(code).to_be_hidden()
    page.get_by_text("Show the code: Bars that grow").click()
    expect(code).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_lesson_has_no_violation_of_accessibility(browser, site, theme):
    page = opened(browser, site, theme=theme)
    assert violations(page) == []
    page.context.close()


@pytest.mark.full("builds the site of a lesson")
def test_nothing_sticks_out_on_a_telephone_and_nothing_is_asked_of_others(browser, site):
    page = patient(browser, viewport={"width": 390, "height": 844}).new_page()
    asked = foreign_requests(page)
    page.goto((site / "01_alike.html").as_uri())
    page.wait_for_load_state("networkidle")
    assert [line for line in overflow(page) if "sidebar" not in line] == []
    assert asked == []
    page.context.close()


def test_code_of_a_hundred_characters_fits_at_1280_pixels_and_scrolls_on_a_telephone(browser, site):
    widths = "code => [code.scrollWidth, code.clientWidth]"
    for width, fits in ((1280, True), (390, False)):
        page = opened(browser, site, width=width)
        needed, given = page.locator(".cell_input pre").first.evaluate(widths)
        assert (needed <= given) == fits
        page.context.close()


@contextmanager
def served(folder):
    """The address of a server for a folder's files."""
    handler = partial(SilentHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.mark.parametrize("from_server", [False, True], ids=["from a file", "from a server"])
def test_search_finds_a_term(browser, site, from_server):
    with served(site) if from_server else nullcontext(site.as_uri()) as address:
        page = patient(browser).new_page()
        page.goto(f"{address}/search.html?q=causal+mask")
        expect(page.locator("#search-results li a").first).to_contain_text("How alike?")
        page.context.close()


def test_the_switch_of_themes_works_and_print_and_forced_colours_keep_the_text(browser, site):
    page = opened(browser, site)
    page.get_by_role("button", name="Color mode").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.emulate_media(forced_colors="active")
    expect(page.get_by_role("heading", name="How alike?", level=1)).to_be_visible()
    page.emulate_media(media="print", forced_colors="none")
    expect(page.locator(".where-to-run")).to_be_visible()
    expect(page.locator(".bd-sidebar-primary")).to_be_hidden()
    page.context.close()


def test_nothing_overflows_at_a_zoom_of_400_percent(browser, site):
    page = opened(browser, site, width=320)
    assert [line for line in overflow(page) if "sidebar" not in line] == []
    page.context.close()


def test_formulas_are_drawn_with_katex_fonts(browser, site):
    page = opened(browser, site)
    page.wait_for_function("document.fonts.status === 'loaded'")
    loaded = "[...document.fonts].filter(font => font.status === 'loaded').map(font => font.family)"
    assert {"KaTeX_Main", "KaTeX_Math"} <= set(page.evaluate(loaded))
    page.context.close()
