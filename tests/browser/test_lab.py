"""A learner's first hour in JupyterLab: open what is published, run it, answer, see it become right, move a slider,
meet an endless loop, restart, validate."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from course.harness.sentences import split_sentence
from grading.exercises.lesson import load_lesson

from .axe import violations
from .conftest import ROOT, overflow
from .notebook import Notebook
from .serving import patient

pytestmark = [pytest.mark.full("opens a JupyterLab server and runs a lesson in it"), pytest.mark.browser]

LESSON = "02_softmax"
WRONG = """def softmax(x, dim=-1):
    e = (x - x.amax(0, keepdim=True)).exp()
    return e / e.sum(0, keepdim=True)"""
RIGHT = WRONG.replace("(0,", "(dim,")
SPARE = "# spare cell"


@pytest.fixture(scope="module")
def notebook(browser: Browser, lab: str) -> Iterator[Notebook]:
    """The untouched release, after Run All. Tests change the answer to `softmax` and the spare cell."""
    context = patient(browser, viewport={"width": 1280, "height": 1000})
    opened = Notebook.opened(context.new_page(), lab.format(path=f"{LESSON}.ipynb"))
    opened.run_all()
    opened.progress_at_first = opened.cell("progress()").inner_text()
    opened.write_and_run("def exp_and_divide(", SPARE)
    yield opened
    context.close()


def test_the_untouched_notebook_runs_from_top_to_bottom(notebook):
    assert notebook.page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert notebook.page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    for exercise in ("log_softmax", "softmax_with_temperature", "entropy"):
        expect(notebook.report(exercise)).to_contain_text("not started")
        expect(notebook.report(exercise)).to_contain_text("Write it in the cell above")
    assert "Begin with softmax: write it in its cell" in notebook.progress_at_first


def test_equations_are_typeset_and_the_notebook_asks_nobody_for_anything(notebook):
    notebook.cells.last.scroll_into_view_if_needed()
    expect(notebook.page.locator(".jp-MarkdownCell mjx-container").last).to_be_visible()
    assert notebook.foreign == []


def test_an_answer_that_is_typed_becomes_right(notebook):
    notebook.write_and_run("def softmax(", WRONG)
    expect(notebook.report("softmax")).to_contain_text("◐ softmax: ")
    exercise = load_lesson(ROOT / "grader_tests" / LESSON).exercises["softmax"]
    named = next(m for m in exercise.mistakes if m.name == "normalises_the_first_dimension")
    for sentence in split_sentence(named.text):
        expect(notebook.report("softmax")).to_contain_text(re.sub("[`*]", "", sentence))
    notebook.write_and_run("def softmax(", RIGHT)
    expect(notebook.report("softmax")).to_contain_text("☑ softmax: ")
    expect(notebook.report("softmax")).to_contain_text("7 of 7 points")
    expect(notebook.run_in(SPARE, "hint(softmax)")).to_contain_text(re.compile(r"Hint \d of 3"))


def test_the_section_to_look_at_is_a_link_to_its_heading(notebook):
    notebook.write_and_run("def softmax(", WRONG)
    link = notebook.report("softmax").get_by_role("link")
    heading = notebook.page.locator(".jp-MarkdownCell h2", has_text=link.inner_text())
    expect(heading).not_to_be_in_viewport()
    link.click()
    expect(heading).to_be_in_viewport()


def test_a_link_to_a_heading_that_is_not_there_leaves_the_notebook_as_it_is(notebook):
    report = 'from course.report import Report; Report("softmax", "wrong", 0, 7, see="1. Removed by the teacher")'
    before, pages = notebook.page.url.split("#")[0], len(notebook.page.context.pages)
    link = notebook.run_in(SPARE, report).get_by_role("link", name="1. Removed by the teacher")
    link.click()
    expect(link).to_be_in_viewport()
    assert (notebook.page.url.split("#")[0], len(notebook.page.context.pages)) == (before, pages)


def test_a_notebook_that_was_saved_as_it_ran_is_told_to_be_ready(notebook):
    """By the file that JupyterLab's server names to the kernel."""
    notebook.write_and_run("def softmax(", RIGHT)
    expect(notebook.report("softmax")).to_contain_text("☑ softmax: ")
    notebook.page.keyboard.press("Control+s")
    expect(notebook.page.locator(".jp-mod-dirty")).to_have_count(0)
    notebook.write_and_run("progress()", "progress()")
    expect(notebook.cell("progress()")).to_contain_text("Ready to hand in? Yes")


def test_a_slider_moves_its_picture_under_a_strip_that_stands_without_it(notebook):
    widgets = notebook.page.locator(".jupyter-widgets")
    cell = notebook.page.locator(".jp-CodeCell", has=widgets).first  # its code is folded
    cell.scroll_into_view_if_needed()
    strip = cell.locator(".jp-RenderedHTMLCommon figure svg")
    moving = cell.locator(".jupyter-widgets figure svg")
    assert strip.count() >= 3
    for picture in strip.all():
        expect(picture).to_be_visible()
        assert picture.get_attribute("aria-label")
        assert picture.bounding_box()["width"] > 100
    assert strip.first.bounding_box()["y"] < moving.bounding_box()["y"], "the strip comes first"
    before = moving.get_attribute("aria-label")
    handle, value = cell.get_by_role("slider", name="temperature", exact=True), cell.locator(".widget-readout")
    expect(handle).to_have_attribute("aria-valuetext", at_first := value.inner_text())
    handle.focus()
    handle.press("ArrowRight")
    expect(moving).not_to_have_attribute("aria-label", before)
    expect(value).not_to_have_text(at_first)
    expect(handle).to_have_attribute("aria-valuetext", value.inner_text())
    handle.press("ArrowLeft")
    expect(moving).to_have_attribute("aria-label", before)
    expect(handle).to_have_attribute("aria-valuetext", at_first)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_what_a_lesson_shows_has_no_violation_of_accessibility(notebook, theme, width):
    notebook.page.set_viewport_size({"width": 1280, "height": 1000})
    notebook.write_and_run("def softmax(", WRONG)
    expect(notebook.report("softmax")).to_contain_text("◐ softmax: ")
    notebook.theme(theme)
    sidebar = notebook.page.locator("#jp-left-stack")
    if sidebar.is_visible():
        notebook.page.keyboard.press("Control+b")
        expect(sidebar).to_be_hidden()
    notebook.page.set_viewport_size({"width": width, "height": 1000})
    expect(notebook.report("softmax").locator("pre").first).to_have_css("word-break", "normal")  # numbers stay whole
    expect(notebook.report("softmax").locator("pre").first).to_have_css("padding-left", "10px")  # not JupyterLab's own
    notebook.page.add_style_tag(content=".jp-Cell { content-visibility: visible !important; }")  # axe skips what is not
    expect(notebook.page.locator(".jp-OutputArea-output").first).to_be_attached()
    assert violations(notebook.page, ".jp-OutputArea-output") == []
    assert overflow(notebook.page) == []
    notebook.page.set_viewport_size({"width": 1280, "height": 1000})


def test_an_endless_loop_ends_by_one_interrupt_and_after_a_restart_all_is_as_before(notebook):
    notebook.write_and_run("def softmax(", "def softmax(x, dim=-1):\n    while True:\n        x = x + 1")
    expect(notebook.page.locator("#jp-bottom-panel")).to_contain_text("| Busy")
    notebook.menu("Kernel", "Interrupt Kernel")
    expect(notebook.report("softmax")).to_contain_text("The calls after it were not tried.")
    expect(notebook.page.locator("#jp-bottom-panel")).to_contain_text("| Idle")
    notebook.menu("Kernel", "Restart Kernel…")
    notebook.page.get_by_role("button", name="Confirm Kernel Restart").click()
    notebook.write_and_run("check(softmax)", "check(softmax)")
    expect(notebook.cell("check(softmax)")).to_contain_text("NameError: name 'check' is not defined")
    notebook.write_and_run("def softmax(", RIGHT)
    notebook.run_all()
    expect(notebook.report("softmax")).to_contain_text("☑ softmax: ")


def test_validate_says_what_was_never_begun(notebook):
    notebook.page.get_by_role("button", name="Validate").first.click()  # which saves
    dialog = notebook.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("log_softmax: not started")
    expect(dialog).not_to_contain_text("Partial credit")
    dialog.get_by_role("button").last.click()
