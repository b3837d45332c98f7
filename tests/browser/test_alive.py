"""The widget of attention in JupyterLab: type, see the maps change, by keyboard alone, in both themes and enlarged."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from .axe import violations
from .conftest import notebook_lab, overflow
from .notebook import Notebook
from .serving import patient

pytestmark = [pytest.mark.full("opens a JupyterLab server"), pytest.mark.browser]

FUNCTIONS = """import torch
from course import alive
def softmax(x, dim=-1):
    return torch.softmax(x, dim)
def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).triu(2)"""
SHOW = "alive.show(softmax=softmax, mask=causal_mask)"
SAID = "[class$='-status']"


@pytest.fixture(scope="module")
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a notebook whose mask leaks."""
    with notebook_lab(tmp_path_factory.mktemp("home"), FUNCTIONS, SHOW) as address:
        yield address


@pytest.fixture
def notebook(browser: Browser, address: str) -> Iterator[Notebook]:
    """The notebook after Run All, in a page of its own. Whatever an earlier test left on the server is undone."""
    context = patient(browser, viewport={"width": 1280, "height": 1000})
    opened = Notebook.opened(context.new_page(), f"{address}&reset")  # the workspace, which the server keeps
    opened.theme("Light")
    opened.page.keyboard.press("Control+b")  # without the file browser
    opened.menu("Edit", "Clear Outputs of All Cells")  # a saved output shows the widget of a kernel that still runs
    expect(opened.page.locator(".jp-OutputArea-output")).to_have_count(0)
    opened.menu("Run", "Run All Cells")
    expect(opened.page.get_by_role("textbox", name="Sentence")).to_be_visible()
    expect(opened.cell(SHOW).locator(".jp-InputPrompt")).to_have_text(re.compile(r"^\[\d+\]:$"))  # has ended
    expect(opened.page.locator("#jp-bottom-panel")).to_contain_text("Python 3 (ipykernel) | Idle")
    yield opened
    context.close()


def test_a_sentence_that_is_typed_changes_the_maps_and_is_spoken(notebook):
    page, live = notebook.page, notebook.page.get_by_role("group", name="Your attention, alive")
    expect(page.locator("[class$='-still']")).to_be_hidden()  # the widget is in its place
    weights = live.get_by_role("group", name="Weights, softmax")
    box = live.get_by_role("textbox", name="Sentence")
    box.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("the boat")
    expect(weights.get_by_role("row")).to_have_count(3)  # one of headings
    page.keyboard.type(" reached the bank")
    expect(weights.get_by_role("row")).to_have_count(6)
    expect(weights.get_by_role("rowheader", name="reached")).to_be_visible()
    expect(page.locator(SAID)).to_contain_text("5 words. “bank” looks most at “")
    expect(page.locator(SAID)).to_contain_text("The mask leaves 4 cells above the diagonal open.")
    assert notebook.foreign == []


def test_all_controls_work_by_keyboard(notebook):
    page, live = notebook.page, notebook.page.get_by_role("group", name="Your attention, alive")
    marked = live.locator("td.bad")
    expect(marked.first).to_be_visible()
    before = live.locator(".attn-alive-scores").inner_text()
    live.get_by_role("textbox", name="Sentence").focus()
    page.keyboard.press("Tab")
    expect(live.get_by_role("spinbutton", name="Layer")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(live.locator(".attn-alive-scores")).not_to_have_text(before, use_inner_text=True)
    page.keyboard.press("Tab")
    expect(live.get_by_role("spinbutton", name="Head")).to_be_focused()
    page.keyboard.press("Tab")
    expect(live.get_by_role("checkbox", name="Block later words")).to_be_focused()
    page.keyboard.press("Space")
    expect(marked).to_have_count(0)
    page.keyboard.press("Space")
    expect(marked.first).to_be_visible()
    page.keyboard.press("Tab")
    expect(live.get_by_role("group", name="Scores, built-in")).to_be_focused()  # scrolls sideways


@pytest.mark.parametrize("width", [1280, 320])  # a window of 1280 pixels at 400 %
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_has_no_violation_of_accessibility_and_fits(notebook, theme, width):
    page = notebook.page
    notebook.theme(theme)
    page.set_viewport_size({"width": width, "height": 1000})
    page.add_style_tag(content=".jp-Cell { content-visibility: visible !important; }")  # axe skips what is not
    assert violations(page, ".jp-OutputArea-output") == []
    assert overflow(page) == []
    cell = page.locator(".jp-OutputArea-output", has=page.locator(".attn-alive-live")).bounding_box()
    for part in page.locator(".attn-alive-live .map, .attn-alive-live .says").all():
        box = part.bounding_box()
        assert box["x"] + box["width"] <= cell["x"] + cell["width"] + 1


def test_colours_that_the_reader_forces_leave_marks_and_numbers(notebook):
    page = notebook.page
    page.emulate_media(forced_colors="active")
    look = "e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth]"
    assert page.locator(".attn-alive-live td.bad").first.evaluate(look) == ["solid", "3px"]
    assert violations(page, ".jp-OutputArea-output") == []


def test_without_a_kernel_the_picture_is_in_its_place(notebook):
    """After saving, closing the kernel, and opening the notebook again."""
    page = notebook.page
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    notebook.menu("Kernel", "Shut Down All Kernels…")
    page.get_by_role("button", name="Shut Down All").click()
    page.reload()
    still = page.locator("[class$='-still']")
    expect(still).to_be_visible()
    expect(still.locator("table")).to_have_count(4)
    expect(still).to_contain_text("The future leaks")
