"""The buttons of the course in JupyterLab and in Notebook 7, as the student's wheel brings them: pressed by mouse and by
keyboard, read by a screen reader, in light and dark; and a notebook without them."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from course.notebook.solutions import TRIES
from grading.authoring.published_solutions import solutions_of

from .axe import violations
from .conftest import ROOT, student_lab
from .serving import foreign_requests, patient
from .test_lab import LESSON, RIGHT, WRONG

pytestmark = [pytest.mark.full("opens a Jupyter server and runs lessons in it"), pytest.mark.browser]

EXTENSION = "share/jupyter/labextensions/attention-course/"
STUB = "raise NotImplementedError()"
FRONT_ENDS = {"lab": "/lab/tree/", "notebook": "/notebooks/"}


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

    def __init__(self, page: Page, file: Path) -> None:
        self.page, self.file, self.foreign = page, file, foreign_requests(page)

    def open(self, address: str) -> None:
        self.page.goto(address)
        expect(self.page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()

    def cell(self, text: str) -> Locator:
        found = self.page.locator(".jp-CodeCell", has=self.page.locator(".jp-InputArea-editor", has_text=text)).first
        found.scroll_into_view_if_needed()
        return found

    def write(self, text: str, code: str) -> None:
        """Replace the code of the cell that holds a text, without running it."""
        self.cell(text).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def bar(self, exercise: str = "softmax") -> Locator:
        self.cell(f"check({exercise})")
        return self.page.get_by_role("group", name=f"Buttons of {exercise}", exact=True)

    def press(self, label: str, exercise: str = "softmax") -> None:
        self.bar(exercise).get_by_role("button", name=f"{label} {exercise}", exact=True).click()

    def status(self, exercise: str = "softmax") -> Locator:
        return self.bar(exercise).get_by_role("status")

    def solution(self) -> Locator:
        return self.bar().get_by_role("button", name="Solution softmax", exact=True)

    def report(self) -> Locator:
        return self.cell("check(softmax)").locator("[role=group][aria-label^='softmax:']")

    def saved_cells(self) -> list[dict]:
        self.page.keyboard.press("Control+s")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)
        return json.loads(self.file.read_text())["cells"]


@pytest.fixture(scope="module")
def home(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server's home with the wheel's extension, and the server's address up to a front end."""
    home = tmp_path_factory.mktemp("home")
    put_extension(wheels["course"], home)
    with student_lab(home) as address:
        for name, content in solutions_of(ROOT, LESSON).items():
            (home / "course" / name).write_bytes(content)
        yield home, address


@pytest.fixture(params=FRONT_ENDS)
def learner(request: pytest.FixtureRequest, browser: Browser, home: tuple[Path, str]) -> Iterator[Learner]:
    """The untouched lesson in a kernel of its own, in which nothing has run."""
    folder, address = home
    test = re.sub(r"\W+", "_", request.node.name)
    (folder / "course" / test).mkdir()
    file = folder / "course" / test / f"{LESSON}.ipynb"
    for name in (folder / "course").glob(f"{LESSON}.*"):
        (file.parent / name.name).write_bytes(name.read_bytes())
    context = patient(browser, viewport={"width": 1280, "height": 1000})
    opened = Learner(context.new_page(), file)
    opened.open(address.replace("/lab/tree/", FRONT_ENDS[request.param]).format(path=f"{test}/{file.name}"))
    yield opened
    context.close()


@pytest.fixture
def pressed(learner: Learner) -> Callable[[str], None]:
    """pressed(label): reach a button of `softmax` from its check cell with the Tab key, and press Enter."""

    def press(label: str) -> None:
        button = learner.bar().get_by_role("button", name=f"{label} softmax", exact=True)
        learner.cell("check(softmax)").locator(".cm-content").click()
        learner.page.keyboard.press("Escape")
        for _ in range(8):
            learner.page.keyboard.press("Tab")
            if button.evaluate("button => button === document.activeElement"):
                break
        expect(button).to_be_focused()
        learner.page.keyboard.press("Enter")

    return press


def test_a_learner_solves_an_exercise_with_the_buttons(learner):
    """From a kernel in which nothing has run."""
    expect(learner.solution()).to_be_hidden()
    learner.write("def softmax(", WRONG)
    learner.press("Check")
    expect(learner.report()).to_contain_text("◐ softmax: ")
    expect(learner.status()).to_contain_text("◐ partly right, ")
    learner.press("Hint")
    expect(learner.bar()).to_contain_text("Hint 1 of 3.")
    learner.press("Hint")
    expect(learner.bar()).to_contain_text("Hint 2 of 3.")
    expect(learner.bar()).to_contain_text("Hint 1 of 3.")
    expect(learner.solution()).to_be_hidden()
    learner.write("def softmax(", RIGHT)
    learner.press("Check")
    expect(learner.report()).to_contain_text("☑ softmax: 7 of 7 points")
    expect(learner.status()).to_have_text("☑ passes, 7 of 7 points")
    learner.press("Solution")
    expect(learner.bar()).to_contain_text("correct answers to softmax")
    learner.press("Close")
    expect(learner.bar()).not_to_contain_text("correct answers to softmax")
    assert learner.foreign == []


def test_solutions_open_after_all_hints_and_several_tries(learner):
    for number in range(TRIES):
        expect(learner.solution()).to_be_hidden()
        learner.write("def softmax(", WRONG.replace("(0,", f"(0 * {number + 1},"))
        learner.press("Check")
        expect(learner.report()).to_contain_text("◐ softmax: ")
        learner.press("Hint")
        expect(learner.bar()).to_contain_text(f"Hint {number + 1} of 3")
    expect(learner.solution()).to_be_visible()


def test_a_syntax_error_is_reported_by_the_check(learner):
    learner.write("def softmax(", "def softmax(x, dim=-1)\n    return x")
    learner.press("Check")
    expect(learner.report()).to_contain_text("The cell with softmax did not run: Python cannot read its line 1")


def test_reset_keeps_what_was_there(learner):
    learner.write("def softmax(", f"{RIGHT}\n\nleft = 'over'")
    learner.press("Check")
    expect(learner.status()).to_have_text("☑ passes, 7 of 7 points")
    learner.press("Reset")
    expect(learner.status()).to_have_text("Your code is kept in the folded cell below.")
    expect(learner.cell("def softmax(x: torch.Tensor")).to_contain_text(STUB)
    expect(learner.report()).to_have_count(0)
    cells = learner.saved_cells()
    graded = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if "nbgrader" in cell["metadata"]}
    released = json.loads((ROOT / "release" / LESSON / f"{LESSON}.ipynb").read_text())["cells"]
    (stub,) = (cell["source"] for cell in released if cell["id"] == "softmax")
    assert "".join(graded["softmax"]["source"]) == "".join(stub)
    kept = cells[cells.index(graded["check_softmax"]) + 1]
    assert kept["metadata"] == {"jupyter": {"source_hidden": True}}
    lines = "".join(kept["source"]).splitlines()
    assert "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[2:]) == f"{RIGHT}\n\nleft = 'over'"
    assert all(line.startswith("#") for line in lines), "nothing of it runs"
    learner.press("Reset")
    expect(learner.status()).to_have_text("Nothing to reset.")
    assert len(learner.saved_cells()) == len(cells) == len(released) + 1


def test_a_step_has_buttons_too(learner):
    learner.press("Hint", "exp_and_divide")
    expect(learner.bar("exp_and_divide")).to_contain_text("Hint 1 of 2")
    learner.write("def exp_and_divide(", "def exp_and_divide(x):\n    return x.exp() / x.exp().sum()")
    learner.press("Check", "exp_and_divide")
    expect(learner.status("exp_and_divide")).to_have_text("☑ passes")
    learner.press("Solution", "exp_and_divide")
    expect(learner.bar("exp_and_divide")).to_contain_text("exponentials.sum()")


def test_everything_can_be_reached_and_pressed_by_keyboard(learner, pressed):
    learner.write("def softmax(", WRONG)
    pressed("Check")
    expect(learner.report()).to_contain_text("◐ softmax: ")
    pressed("Hint")
    expect(learner.bar()).to_contain_text("Hint 1 of 3")
    pressed("Reset")
    expect(learner.status()).to_have_text("Your code is kept in the folded cell below.")


def test_progress_and_hand_in_are_in_the_toolbar(learner):
    learner.write("def softmax(", RIGHT)
    learner.press("Check")
    expect(learner.report()).to_contain_text("☑ softmax: ")
    toolbar, dialog = learner.page.get_by_role("toolbar").last, learner.page.locator(".jp-Dialog")
    for label, text in (("Progress", "1 of 4 exercises pass"), ("Hand in", f"hand_in/{LESSON}.ipynb")):
        button = toolbar.get_by_role("button", name=label)
        button.focus()
        learner.page.keyboard.press("Enter")
        expect(dialog).to_contain_text(text)
        expect(dialog).to_contain_text("Ready to hand in?")
        assert violations(learner.page, ".attn-dialog") == []
        learner.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    written = json.loads((learner.file.parent / "hand_in" / learner.file.name).read_text())["cells"]
    assert any("".join(cell["source"]) == RIGHT for cell in written), "what was not saved before is in it"


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_buttons_have_no_violation_of_accessibility(learner, theme):
    learner.write("def softmax(", RIGHT)
    learner.press("Check")
    expect(learner.solution()).to_be_visible()
    learner.press("Hint")
    expect(learner.bar()).to_contain_text("Hint 1 of 3")
    learner.page.get_by_role("menuitem", name="Settings", exact=True).click()
    learner.page.locator(".lm-Menu-itemLabel").filter(has_text=re.compile("^Theme$")).click()
    learner.page.locator(".lm-Menu-itemLabel").filter(has_text=re.compile(f"^JupyterLab {theme}$")).click()
    expect(learner.page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme}")
    learner.bar().scroll_into_view_if_needed()
    assert violations(learner.page, ".attn-buttons") == []


def test_after_a_restart_a_button_begins_the_lesson_again(learner):
    learner.write("def softmax(", RIGHT)
    learner.press("Check")
    expect(learner.solution()).to_be_visible()
    learner.page.get_by_role("menuitem", name="Kernel", exact=True).click()
    learner.page.locator(".lm-Menu-itemLabel").filter(has_text=re.compile("^Restart Kernel…$")).click()
    learner.page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(learner.solution()).to_be_hidden()
    learner.write("def softmax(", WRONG)
    learner.press("Check")
    expect(learner.status()).to_contain_text("◐ partly right, ")
