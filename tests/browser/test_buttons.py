"""The buttons of the course in JupyterLab and in Notebook 7, as the student's wheel brings them.

The tests share a notebook and its kernel. Each has an exercise or step of its own, so they run in any order.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from course.notebook.hints import TRIES
from grading.authoring.published_solutions import solutions_of

from .axe import violations
from .conftest import ROOT, student_lab
from .serving import foreign_requests, patient
from .test_lab import LESSON, RIGHT, WRONG

pytestmark = [pytest.mark.full("opens a Jupyter server and runs lessons in it"), pytest.mark.browser]

EXTENSION = "share/jupyter/labextensions/attention-course/"
FRONT_ENDS = {"lab": "/lab/tree/", "notebook": "/notebooks/"}
OFF = json.dumps({"disabledExtensions": {"attention-course": True}})


def put_extension(wheel: Path, home: Path) -> None:
    """Unpack the extension of a wheel where Jupyter looks for a user's own."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if EXTENSION in name:
                place = home / "data" / "labextensions" / "attention-course" / name.split(EXTENSION)[1]
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(name))


class Learner:
    """A learner with the lesson open in one of the front ends."""

    def __init__(self, page: Page, file: Path, address: str) -> None:
        self.page, self.file, self.foreign = page, file, foreign_requests(page)
        page.goto(address)
        expect(page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()

    def cell(self, text: str) -> Locator:
        found = self.page.locator(".jp-CodeCell", has=self.page.locator(".jp-InputArea-editor", has_text=text)).first
        found.scroll_into_view_if_needed()
        return found

    def write(self, exercise: str, code: str) -> None:
        """Replace the code of the cell that defines an exercise, without running it."""
        self.cell(f"def {exercise}(").locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def bar(self, exercise: str) -> Locator:
        self.cell(f"check({exercise})")
        return self.page.get_by_role("group", name=f"Buttons of {exercise}", exact=True)

    def button(self, label: str, exercise: str) -> Locator:
        return self.bar(exercise).get_by_role("button", name=f"{label} {exercise}", exact=True)

    def press(self, label: str, exercise: str) -> None:
        self.button(label, exercise).click()
        expect(self.bar(exercise)).not_to_have_attribute("aria-busy", "true")

    def press_by_keyboard(self, label: str, exercise: str) -> None:
        """Reach a button from the code of the check cell with the Tab key, and press Enter."""
        self.cell(f"check({exercise})").locator(".cm-content").click()
        self.page.keyboard.press("Escape")
        button = self.button(label, exercise)
        for _ in range(8):
            self.page.keyboard.press("Tab")
            if button.evaluate("button => button === document.activeElement"):
                break
        expect(button).to_be_focused()
        self.page.keyboard.press("Enter")

    def status(self, exercise: str) -> Locator:
        return self.bar(exercise).get_by_role("status")

    def report(self, exercise: str) -> Locator:
        return self.cell(f"check({exercise})").locator(f"[role=group][aria-label^='{exercise}:']")

    def menu(self, name: str, *items: str) -> None:
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        for item in items:
            self.page.locator(".lm-Menu-itemLabel").filter(has_text=re.compile(f"^{re.escape(item)}$")).click()

    def saved_cells(self) -> list[dict]:
        before = self.file.stat().st_mtime_ns
        self.menu("File", "Save Notebook")
        while self.file.stat().st_mtime_ns == before or not self.file.read_bytes().endswith(b"}\n"):  # being written
            self.page.wait_for_timeout(100)
        return json.loads(self.file.read_text(encoding="utf-8"))["cells"]


@pytest.fixture(scope="module")
def home(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server's home with the wheel's extension, and the server's address."""
    home = tmp_path_factory.mktemp("home")
    put_extension(wheels["course"], home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_MEMORY", "off")  # what a learner did in one front end does not show in the other
        with student_lab(home) as address:
            yield home, address


def opened(browser: Browser, home: tuple[Path, str], front_end: str) -> Learner:
    """The untouched lesson, with published solutions beside it, in a kernel of its own in which nothing has run."""
    folder, address = home
    file = folder / "course" / front_end / f"{LESSON}.ipynb"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes((folder / "course" / file.name).read_bytes())
    for name, content in solutions_of(ROOT, LESSON).items():
        (file.parent / name).write_bytes(content)
    path = address.replace("/lab/tree/", FRONT_ENDS[front_end]).format(path=f"{front_end}/{file.name}")
    context = patient(browser, viewport={"width": 1280, "height": 1000})
    return Learner(context.new_page(), file, f"{path}&reset")  # without what another test had open


@pytest.fixture(scope="module", params=FRONT_ENDS)
def learner(request: pytest.FixtureRequest, browser: Browser, home: tuple[Path, str]) -> Iterator[Learner]:
    made = opened(browser, home, request.param)
    expect(made.bar("softmax")).to_be_visible()
    expect(made.page.locator(".jp-mod-dirty")).to_have_count(0)  # what is opened is not changed
    yield made
    made.page.context.close()


def test_a_learner_solves_an_exercise_with_the_buttons(learner):
    expect(learner.button("Solution", "softmax")).to_be_hidden()
    learner.write("softmax", WRONG)
    learner.press("Check", "softmax")
    expect(learner.report("softmax")).to_contain_text("◐ softmax: ")
    expect(learner.status("softmax")).to_contain_text("◐ partly right, ")
    for number in (1, 2):
        learner.press("Hint", "softmax")
        for shown in range(1, number + 1):
            expect(learner.bar("softmax")).to_contain_text(f"Hint {shown} of 3.")
    expect(learner.button("Solution", "softmax")).to_be_hidden()
    learner.write("softmax", RIGHT)
    learner.press("Check", "softmax")
    expect(learner.report("softmax")).to_contain_text("☑ softmax: 7 of 7 points")
    expect(learner.status("softmax")).to_have_text("☑ passes, 7 of 7 points")
    learner.press("Solution", "softmax")
    expect(learner.bar("softmax")).to_contain_text("correct answers to softmax")
    learner.press("Close", "softmax")
    expect(learner.bar("softmax")).not_to_contain_text("correct answers to softmax")
    assert learner.foreign == []


def test_solutions_open_after_all_hints_and_several_tries(learner):
    name = "log_softmax"
    for number in range(1, TRIES + 1):
        expect(learner.button("Solution", name)).to_be_hidden()
        learner.write(name, f"def {name}(x, dim=-1):\n    return x * {number}")
        learner.press("Check", name)
        learner.press("Hint", name)
        expect(learner.bar(name)).to_contain_text(f"Hint {number} of 3")
    expect(learner.button("Solution", name)).to_be_visible()


def test_a_syntax_error_is_reported_by_the_check(learner):
    learner.write("exp_and_divide", "def exp_and_divide(x)\n    return x")
    learner.press("Check", "exp_and_divide")
    text = "The cell with exp_and_divide did not run: Python cannot read its line 1"
    expect(learner.report("exp_and_divide")).to_contain_text(text)


def test_reset_keeps_what_was_there(learner):
    name, code = "softmax_with_temperature", "def softmax_with_temperature(x, temperature, dim=-1):\n    return x\n\n1"
    learner.write(name, code)
    learner.press("Check", name)
    expect(learner.report(name)).to_have_count(1)
    learner.press("Reset", name)
    expect(learner.status(name)).to_have_text("Your code is kept in the folded cell below.")
    expect(learner.report(name)).to_have_count(0)
    cells = learner.saved_cells()
    graded = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if "nbgrader" in cell["metadata"]}
    released = json.loads((ROOT / "release" / LESSON / f"{LESSON}.ipynb").read_text(encoding="utf-8"))["cells"]
    (stub,) = (cell["source"] for cell in released if cell["id"] == name)
    assert "".join(graded[name]["source"]) == "".join(stub)
    kept = cells[cells.index(graded[f"check_{name}"]) + 1]
    assert kept["metadata"]["jupyter"] == {"source_hidden": True}
    lines = "".join(kept["source"]).splitlines()
    assert "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[2:]) == code
    assert all(line.startswith("#") for line in lines), "nothing of it runs"
    learner.press("Reset", name)
    expect(learner.status(name)).to_have_text("Nothing to reset.")
    assert len(learner.saved_cells()) == len(cells) == len(released) + 1


def test_everything_can_be_reached_and_pressed_by_keyboard(learner):
    learner.write("entropy", "def entropy(p, dim=-1):\n    return p")
    learner.press_by_keyboard("Check", "entropy")
    expect(learner.report("entropy")).to_have_count(1)
    expect(learner.bar("entropy")).not_to_have_attribute("aria-busy", "true")
    learner.press_by_keyboard("Hint", "entropy")
    expect(learner.bar("entropy")).to_contain_text("Hint 1 of 3")
    expect(learner.bar("entropy")).not_to_have_attribute("aria-busy", "true")
    learner.press_by_keyboard("Close", "entropy")
    expect(learner.bar("entropy")).not_to_contain_text("Hint 1 of 3")


def test_progress_and_hand_in_are_in_the_toolbar(learner):
    unsaved = "def soft_dictionary(queries, keys, values, temperature):\n    return values"
    learner.write("soft_dictionary", unsaved)
    dialog = learner.page.locator(".jp-Dialog")
    for label, text in (("Progress", LESSON), ("Hand in", f"hand_in/{LESSON}.ipynb")):
        learner.page.locator(".jp-NotebookPanel-toolbar").get_by_role("button", name=label).focus()
        learner.page.keyboard.press("Enter")
        expect(dialog).to_contain_text(text)
        expect(dialog).to_contain_text("Ready to hand in?")
        found = violations(learner.page, ".attn-dialog")
        learner.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert found == []
    written = json.loads((learner.file.parent / "hand_in" / learner.file.name).read_text(encoding="utf-8"))["cells"]
    assert any("".join(cell["source"]) == unsaved for cell in written), "Hand in saves the notebook first"


def test_the_buttons_have_no_violation_of_accessibility_in_light_and_dark(learner):
    learner.write("soft_dictionary", "def soft_dictionary(queries, keys, values, temperature):\n    return queries")
    learner.press("Check", "soft_dictionary")
    learner.press("Hint", "soft_dictionary")
    expect(learner.bar("soft_dictionary")).to_contain_text("Hint 1 of 3")
    for theme in ("Light", "Dark"):
        learner.menu("Settings", "Theme", f"JupyterLab {theme}")
        expect(learner.page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme}")
        learner.bar("soft_dictionary").scroll_into_view_if_needed()
        assert violations(learner.page, ".attn-buttons") == []


def test_after_a_restart_a_button_begins_the_lesson_again(learner):
    name = "exp_and_divide"
    learner.write(name, f"def {name}(x):\n    return x.exp() / x.exp().sum()")
    learner.press("Check", name)
    expect(learner.status(name)).to_have_text("☑ passes")
    expect(learner.button("Solution", name)).to_be_visible()
    learner.menu("Kernel", "Restart Kernel…")
    learner.page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(learner.button("Solution", name)).to_be_hidden()
    learner.write(name, f"def {name}(x):\n    return x.exp()")
    learner.press("Check", name)
    expect(learner.report(name)).to_have_count(1)
    expect(learner.status(name)).not_to_have_text("☑ passes")


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_without_the_extension_the_notebook_is_as_before(browser, home, front_end):
    setting = home[0] / "labconfig" / "page_config.json"
    setting.parent.mkdir(exist_ok=True)
    setting.write_text(OFF)
    try:
        learner = opened(browser, home, front_end)
    finally:
        setting.unlink()
    learner.cell("check(softmax)")
    assert learner.page.locator(".attn-buttons").count() == 0
    assert learner.page.locator(".jp-NotebookPanel-toolbar").get_by_role("button", name="Hand in").count() == 0
    learner.page.context.close()
