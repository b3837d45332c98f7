"""What the pictures in README and docs show and no Lab is needed for: a feedback page, a class, the review page."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import torch
from playwright.sync_api import Browser, Locator, Page, expect

from grading.class_report.model import Answer, ClassGrades, Submission
from grading.coordinator.demo_class import sample_class as sample_notebooks
from grading.exercises.lesson import load_lesson
from grading.feedback import page as feedback
from grading.grader.local import grade_in_process
from grading.judge.job import GradebookView
from grading.notebooks.cells import exercise_named, title_of
from grading.notebooks.verdict_cell import grade_id, is_autograded, nbgrader_metadata, write_verdict

from ..support.repository import ROOT
from ..support.review_course import ESSAY, WHY, make_review_course
from .serving import patient, reviewing

LESSON = "02_softmax"
WRONG = "def softmax(x, dim=-1):\n    e = (x - x.amax(0, keepdim=True)).exp()\n    return e / e.sum(0, keepdim=True)"
STUDENT = "sample-goran"  # two partly right answers, two right ones
STUDENTS = 14
WINDOW = {"width": 1280, "height": 860}
NO_PROSE = "pre, figure, summary, .katex, [role=group]"
ANSWERS = "#groups, #members, #answer-title, #rendered"  # of the review page; their order is that of random ids
TIME = re.compile(r"\d+/\d+/\d+, \d+:\d+:?\d*\s[AP]M")
VARIANCE = "the variance of a dot product grows with the dimension $d$, and softmax puts all its weight on one key"
REVIEWED = {
    "ada": VARIANCE.replace("the variance", "Because the **variance**") + ".",
    "ben": VARIANCE.replace("the variance", "because the variance"),
    "cleo": VARIANCE.replace("the variance", "Because the variance") + "!",
    "dan": "So that the numbers stay small, and float16 does not overflow.",
    "eli": "so that the numbers stay small, and float16 does not overflow",
    "fay": "Softmax saturates when its inputs are large.",
    "gus": "It looks nicer in the paper.",
    "hal": "Because Vaswani et al. say so.",
    "ida": "Dividing by $d$ would be too much.",
}
# The words of a page as a reader sees them, one text node a line, as far as the window shows them whole
SHOWN = """([root, bottom, but]) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [], range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.data.trim() || !node.parentElement.checkVisibility()) continue;
        if (but && node.parentElement.closest(but)) continue;
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.bottom > bottom) break;
        if (box.top < 0) continue;
        found.push(node.data.trim().replace(/\\s+/g, ' '));
    }
    return found;
}"""


def shown_lines(page: Page, within: Locator | None = None, *, bottom: float = 1e9, but: str = "") -> list[str]:
    """The visible words of an element (default: the page), without times, a line for each piece of text.

    bottom  where the picture ends
    but     elements to leave out, as a CSS selector
    """
    root = (within or page.locator("body")).element_handle()
    return [TIME.sub("TIME", line) for line in page.evaluate(SHOWN, [root, bottom, but])]


def feedback_page() -> str:
    """The page of a student of the sample class, without what its cells printed."""
    notebook = dict(sample_notebooks(ROOT, LESSON))[STUDENT]
    solutions = [cell.source for cell in notebook.cells if nbgrader_metadata(cell).get("solution")]
    names: dict[str, Any] = {"torch": torch}
    for source in solutions:
        exec(source, names)
    lesson = load_lesson(ROOT / "grader_tests" / LESSON)
    for cell in filter(is_autograded, notebook.cells):
        exercise = lesson.exercises[exercise_named(grade_id(cell))]
        write_verdict(cell, grade_in_process(exercise, names, cells=solutions, lesson=lesson))
    own = [cell.source.strip() for cell in notebook.cells if not nbgrader_metadata(cell)]
    known = GradebookView("Goran Sample", title=title_of(own), left_out=tuple(own))
    request = {"ids": {"notebook": LESSON}, "known": asdict(known)}
    return str(next(feedback.run(request, nbformat.writes(notebook).encode(), None))["page"])


def sample_class(students: int = STUDENTS) -> ClassGrades:
    """Students whose answers to one lesson are drawn from those that are known."""
    drawn, when = random.Random(0), datetime(2026, 10, 1, tzinfo=UTC)
    answers, submissions = [], []
    for number in range(1, students + 1):
        student, own = f"student-{number:02}", list[Answer]()
        for exercise in load_lesson(ROOT / "grader_tests" / LESSON).exercises.values():
            given = drawn.choice([drawn.choice(exercise.alternatives), drawn.choice(exercise.mistakes[:4])])
            verdict = grade_in_process(exercise, {exercise.name: given.load()})
            own.append(Answer(student, LESSON, verdict.earned, verdict))
        answers += own
        points, most = sum(one.verdict.earned for one in own), sum(one.verdict.points for one in own)
        submissions.append(Submission(student, LESSON, points, most, when))
    return ClassGrades(answers, submissions)


@contextmanager
def review_page(browser: Browser, place: Path) -> Iterator[Page]:
    """The review page, on which a group of three answers has points and a comment."""
    root = make_review_course(place, {name: {WHY: text, ESSAY: "Later words."} for name, text in REVIEWED.items()})
    with reviewing(root, "01_essay") as (address, _):
        page = patient(browser, viewport=WINDOW, locale="en-US").new_page()
        page.goto(address)
        expect(page.locator("#groups button").first).to_be_visible()
        for person, key in (("3 like", "1"), ("fay", "2"), ("gus", "0"), ("hal", "3"), ("3 like", "")):
            page.locator("#groups button", has_text=person).click()
            if key:
                page.keyboard.press(key)
                expect(page.locator("#groups [aria-current] .score")).to_contain_text("✓")
        page.locator("#comment").fill("Good: the variance is the reason. Say what softmax does with large scores, too.")
        page.locator("#alike summary").click()
        expect(page.get_by_role("status").first).to_contain_text("Comment saved.")
        expect(page.locator("#status")).to_be_hidden()
        expect(page.locator("#rendered")).to_be_visible()
        page.mouse.move(0, 0)
        yield page
        page.context.close()
