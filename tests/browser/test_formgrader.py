"""The teacher opens what students handed in, in nbgrader's formgrader and in the feedback: no page does anything.

Every submission `page-*` of the corpus holds a script that would, as the teacher, give its author points through the
formgrader and write a file through the contents API. Each is opened on a real server, signed in, with every link
clicked and every handler set off; then the page, the gradebook and the course's files must be as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, BrowserContext, Page, expect

from grading.run.nbgrader import GradingError, autograde, feedback
from grading.sample import hand_in

from ..corpus import cases
from .conftest import TOKEN, foreign_requests, serving

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSON = "02_softmax"
HONEST = "honest"
STRANGE = '"><img src=x onerror=window.sang=1>'
CASES = cases("page")
# Sets off what a reader may set off: every handler there is, and every link that leaves for no other page
TOUCH = """() => {
    const shown = document.querySelector('#notebook-container') || document.body;
    for (const element of shown.querySelectorAll('*')) {
        for (const {name} of [...element.attributes])
            if (name.startsWith('on')) element.dispatchEvent(new Event(name.slice(2)));
        if (element.tagName === 'A' && !/^https?:|^mailto:/.test(element.href)) element.click();
    }
}"""
# Where links lead that are not to a place on the page itself
LEADS = """() => {
    const shown = document.querySelector('#notebook-container') || document.body, here = location.href.split('#')[0];
    return [...shown.querySelectorAll('a, area')].map(link => link.href.animVal || link.href)
        .filter(href => href && !href.startsWith(here + '#'));
}"""


@dataclass
class Teacher:
    """A course that was graded and that a server shows. ids: the submission's id in the gradebook, by student."""

    root: Path
    address: str
    context: BrowserContext
    ids: dict[str, str] = field(default_factory=dict)
    expected: frozenset[str] = frozenset()

    def points(self, student: str) -> list[tuple[str, float | None, float | None]]:
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", "attention") as gradebook:
            grades = gradebook.find_submission_notebook(LESSON, LESSON, student).grades
            return [(grade.name, grade.auto_score, grade.manual_score) for grade in grades]

    def files(self) -> list[Path]:
        """What lies in the course directory; the contents API writes there."""
        return sorted(path for path in self.root.iterdir() if ".ipynb_checkpoints" not in path.name)

    def formgrader(self, student: str) -> str:
        return f"{self.address}/formgrader/submissions/{self.ids[student]}/"

    def feedback(self, student: str) -> str:
        """From disk, as a student has it; a script would still change the page's title."""
        return (self.root / "feedback" / student / LESSON / f"{LESSON}.html").as_uri()


@pytest.fixture(scope="module")
def teacher(classroom, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Teacher]:
    root = classroom(LESSON)
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    hand_in(root, LESSON, HONEST, release)
    hand_in(root, LESSON, STRANGE, release)
    for student in [HONEST, *(case.hand_in(root) for case in CASES)]:
        try:
            autograde(root, LESSON, student)
            feedback(root, LESSON, student)
        except GradingError as error:  # then that case fails by itself
            print(student, error)
    with serving(root, tmp_path_factory.mktemp("home")) as address:
        context = browser.new_context()
        context.route(lambda url: not url.startswith((address, "file:")), lambda route: route.abort())
        made = Teacher(root, address, context)
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as gradebook:
            for submission in gradebook.assignment_submissions(LESSON):
                made.ids[submission.student.id] = submission.notebooks[0].id
        context.new_page().goto(f"{address}/tree?token={TOKEN}")  # signs in
        made.expected = frozenset(open_page(made, made.formgrader(HONEST)).told)
        yield made
        context.close()


@dataclass
class Opened:
    """What a page did when it was opened and touched. told: requests elsewhere, console messages, dialogs."""

    page: Page
    status: int
    title: str = ""
    told: list[str] = field(default_factory=list)
    leads: list[str] = field(default_factory=list)


def open_page(teacher: Teacher, address: str) -> Opened:
    page = teacher.context.new_page()
    told = foreign_requests(page)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
    response = page.goto(address)
    opened = Opened(page, response.status if response else 0, told=told)
    opened.leads = page.evaluate(LEADS)
    page.evaluate(TOUCH)
    page.wait_for_load_state("networkidle")
    opened.title = page.title()
    return opened


def sang(teacher: Teacher, student: str, address: str) -> list[str]:
    """What opening a page set off."""
    points, files = teacher.points(student), teacher.files()
    opened = open_page(teacher, address)
    page = opened.page
    found = [message for message in opened.told if message not in teacher.expected]
    if opened.status not in (0, 200):  # 0: a file
        found.append(f"status {opened.status}")
    if opened.title == "sang" or page.evaluate("window.sang"):
        found.append("its script ran")
    if page.url.split("#")[0] != address:
        found.append(f"it went to {page.url}")
    found += [f"a link to {link[:80]}" for link in opened.leads if not link.startswith(("https:", "mailto:"))]
    if teacher.points(student) != points:
        found.append("the gradebook was changed")
    found += [f"{path.name} was written" for path in teacher.files() if path not in files]
    (teacher.root / "sang.txt").unlink(missing_ok=True)
    page.close()
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_submission_in_the_formgrader_does_nothing(teacher, case):
    found = sang(teacher, case.name, teacher.formgrader(case.name))
    assert not found, "; ".join(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_feedback_on_it_does_nothing(teacher, case):
    found = sang(teacher, case.name, teacher.feedback(case.name))
    assert not found, "; ".join(found)


def test_a_name_that_is_html_is_told_and_never_reaches_the_gradebook(teacher):
    with pytest.raises(GradingError, match="the name holds what no page can show"):
        autograde(teacher.root, LESSON, STRANGE)
    with Gradebook(f"sqlite:///{teacher.root / 'gradebook.db'}", "attention") as gradebook:
        assert STRANGE not in {student.id for student in gradebook.students}


PLACES = [f"manage_submissions/{LESSON}", f"gradebook/{LESSON}/{LESSON}", "manage_students", "manage_assignments"]


@pytest.mark.parametrize("place", PLACES)
def test_the_formgraders_lists_run_nothing_of_a_name(teacher, place):
    opened = open_page(teacher, f"{teacher.address}/formgrader/{place}")
    expect(opened.page.locator("table tbody tr").first).not_to_contain_text("Loading")
    assert opened.page.evaluate("window.sang") is None
    opened.page.close()
