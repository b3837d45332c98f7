"""A learner's first hour in JupyterLab: open the release, run it, answer, see it become right, move a slider."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from grading.judge.lesson import load_lesson

from .conftest import ROOT
from .serving import foreign_requests

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSON = "02_softmax"
WRONG = """def softmax(x, dim=-1):
    e = (x - x.amax(0, keepdim=True)).exp()
    return e / e.sum(0, keepdim=True)"""
RIGHT = WRONG.replace("(0,", "(dim,")


class Notebook:
    """The notebook in JupyterLab, used as a person does: by menu, mouse and keyboard."""

    def __init__(self, page: Page) -> None:
        self.page, self.foreign = page, foreign_requests(page)
        self.progress_at_first = ""  # tests run in any order, and an answer changes it

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        number = re.compile(r"^\[\d+\]:$")
        expect(self.cells.last.locator(".jp-InputPrompt")).to_have_text(number, timeout=120_000)

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell")

    def cell(self, text: str) -> Locator:
        """The code cell whose code holds a text."""
        code = self.page.locator(".jp-InputArea-editor", has_text=text)
        found = self.page.locator(".jp-CodeCell", has=code).first
        found.scroll_into_view_if_needed()
        return found

    def write_and_run(self, text: str, code: str) -> None:
        """Replace the code of a cell and run it, and the one below it."""
        self.cell(text).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Shift+Enter")
        self.page.keyboard.press("Shift+Enter")

    def report(self, exercise: str) -> Locator:
        return self.cell(f"check({exercise})").locator(f"[role=group][aria-label^='{exercise}:']")


@pytest.fixture(scope="module")
def notebook(browser: Browser, lab: str) -> Iterator[Notebook]:
    """The untouched release, after Run All. Tests change the answer to `softmax` only."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    opened = Notebook(context.new_page())
    opened.page.goto(lab.format(path=f"{LESSON}/{LESSON}.ipynb"))
    expect(opened.page.locator("#jp-bottom-panel")).to_contain_text("Python 3 (ipykernel) | Idle", timeout=120_000)
    opened.run_all()
    opened.progress_at_first = opened.cell("progress()").inner_text()
    yield opened
    context.close()


def test_the_untouched_notebook_runs_from_top_to_bottom(notebook):
    assert notebook.page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert notebook.page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    for exercise in ("log_softmax", "softmax_with_temperature", "entropy"):
        expect(notebook.report(exercise)).to_contain_text("○ not started")
        expect(notebook.report(exercise)).to_contain_text("Write it in the cell above")
    assert "0 of 4 exercises pass." in notebook.progress_at_first


def test_equations_are_typeset_and_the_notebook_asks_nobody_for_anything(notebook):
    notebook.cells.last.scroll_into_view_if_needed()
    expect(notebook.page.locator(".jp-MarkdownCell mjx-container").last).to_be_visible()
    assert notebook.foreign == []


def test_an_answer_that_is_typed_becomes_right(notebook):
    notebook.write_and_run("def softmax(", WRONG)
    expect(notebook.report("softmax")).to_contain_text("◐ partly right", timeout=30_000)
    exercise = load_lesson(ROOT / "grader_tests" / LESSON).exercises["softmax"]
    named = next(m for m in exercise.mistakes if m.name == "normalises_the_first_dimension")
    expect(notebook.report("softmax")).to_contain_text(re.sub("[`*]", "", named.text))
    notebook.write_and_run("def softmax(", RIGHT)
    expect(notebook.report("softmax")).to_contain_text("✓ passes", timeout=30_000)
    expect(notebook.report("softmax")).to_contain_text("7 of 7 points")
    notebook.write_and_run("hint(softmax)", "hint(softmax)")
    expect(notebook.cell("hint(softmax)")).to_contain_text("Hint 1 of 3")


def test_a_notebook_that_was_saved_as_it_ran_is_told_to_be_ready(notebook):
    """By the file that JupyterLab's server names to the kernel."""
    notebook.write_and_run("def softmax(", RIGHT)
    expect(notebook.report("softmax")).to_contain_text("✓ passes", timeout=30_000)
    notebook.page.keyboard.press("Control+s")
    expect(notebook.page.locator(".jp-mod-dirty")).to_have_count(0, timeout=30_000)
    notebook.write_and_run("progress()", "progress()")
    expect(notebook.cell("progress()")).to_contain_text("Ready to hand in? Yes", timeout=30_000)


def test_a_slider_moves_its_picture_under_a_strip_that_stands_without_it(notebook):
    widgets = notebook.page.locator(".jupyter-widgets")
    cell = notebook.page.locator(".jp-CodeCell", has=widgets).first  # its code is folded
    cell.scroll_into_view_if_needed()
    strip = cell.locator(".jp-RenderedHTMLCommon figure img")
    moving = cell.locator(".jupyter-widgets figure img")
    assert strip.count() >= 3
    for picture in strip.all():
        expect(picture).to_be_visible()
        assert picture.get_attribute("alt")
        assert picture.evaluate("image => image.complete && image.naturalWidth > 100")
    assert strip.first.bounding_box()["y"] < moving.bounding_box()["y"], "the strip comes first"
    before = moving.get_attribute("src")
    handle = cell.get_by_role("slider")
    handle.focus()
    handle.press("ArrowRight")
    expect(moving).not_to_have_attribute("src", before, timeout=20_000)
    handle.press("ArrowLeft")
    expect(moving).to_have_attribute("src", before, timeout=20_000)
