"""The teacher opens graded submissions, in nbgrader's formgrader and in the feedback, on a real server, signed in.

Each page is touched as a reader may touch it: every handler is set off, every link that leaves for no other page is
clicked. `sang` tells what came of it in the page, the gradebook and the course's files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from playwright.sync_api import Browser, BrowserContext, Error, Page

from .serving import TOKEN, foreign_requests, patient, serving

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
    """A course in which a lesson was graded, and which a server shows.

    ids       the submission's id in the gradebook, by student
    expected  what an honest submission's page says anyhow: requests elsewhere, messages
    """

    root: Path
    lesson: str
    address: str
    context: BrowserContext
    ids: dict[str, str] = field(default_factory=dict)
    expected: frozenset[str] = frozenset()

    def points(self, student: str) -> list[tuple[str, float | None, float | None]]:
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}") as gradebook:
            grades = gradebook.find_submission_notebook(self.lesson, self.lesson, student).grades
            return [(grade.name, grade.auto_score, grade.manual_score) for grade in grades]

    def files(self) -> list[Path]:
        """What lies in the course directory; the contents API writes there."""
        return sorted(path for path in self.root.iterdir() if ".ipynb_checkpoints" not in path.name)

    def formgrader(self, student: str) -> str:
        return f"{self.address}/formgrader/submissions/{self.ids[student]}/"

    def feedback_file(self, student: str) -> Path:
        return self.root / "feedback" / student / self.lesson / f"{self.lesson}.html"

    def feedback(self, student: str) -> str:
        """From disk, as a student has it; a script would still change the page's title."""
        return self.feedback_file(student).as_uri()


@contextmanager
def opening(root: Path, lesson: str, honest: str, browser: Browser, home: Path) -> Iterator[Teacher]:
    """A teacher before a course in which that lesson was graded; `honest`: a student whose pages do nothing."""
    with serving(root, home) as address:
        context = patient(browser)
        context.route(lambda url: not url.startswith((address, "file:")), lambda route: route.abort())
        made = Teacher(root, lesson, address, context)
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
            for submission in gradebook.assignment_submissions(lesson):
                made.ids[submission.student.id] = submission.notebooks[0].id
        context.new_page().goto(f"{address}/tree?token={TOKEN}")  # signs in
        made.expected = frozenset(open_page(made, made.formgrader(honest)).told)
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

    def evaluate(self, script: str) -> Any:
        """None where the page went elsewhere meanwhile, which is told."""
        try:
            return self.page.evaluate(script)
        except Error as error:
            self.told.append(f"it went elsewhere: {error.message}")
            return None


def open_page(teacher: Teacher, address: str) -> Opened:
    page = teacher.context.new_page()
    told = foreign_requests(page)
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
    response = page.goto(address)
    opened = Opened(page, response.status if response else 0, told=told)
    opened.leads = opened.evaluate(LEADS) or []
    opened.evaluate(TOUCH)
    page.wait_for_load_state("networkidle")
    opened.title = page.title()
    return opened


def sang(teacher: Teacher, student: str, address: str) -> list[str]:
    """What opening a page set off."""
    points, files = teacher.points(student), teacher.files()
    opened = open_page(teacher, address)
    page = opened.page
    found = ["its script ran"] if opened.evaluate("window.sang") or opened.title == "sang" else []
    found += [message for message in opened.told if message not in teacher.expected]
    if opened.status not in (0, 200):  # 0: a file
        found.append(f"status {opened.status}")
    if page.url.split("#")[0].partition("?index=")[0] != address:  # the formgrader notes there which box is in focus
        found.append(f"it went to {page.url}")
    found += [f"a link to {link[:80]}" for link in opened.leads if not link.startswith(("https:", "mailto:"))]
    if teacher.points(student) != points:
        found.append("the gradebook was changed")
    found += [f"{path.name} was written" for path in teacher.files() if path not in files]
    (teacher.root / "sang.txt").unlink(missing_ok=True)
    page.close()
    return found
