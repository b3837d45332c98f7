"""Pictures of what students and teachers see, for the README: `make screenshots`, then look at them.

    python -m tests.browser.screenshots FOLDER

A report that names a mistake and a slider in JupyterLab, a lesson on the site, and the page of a class whose answers
are known right and wrong ones, judged here.
"""

from __future__ import annotations

import io
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from rich.console import Console

from grading.class_report.html_page import class_page
from grading.class_report.mistake_texts import MistakeTexts
from grading.class_report.model import Answer, Course, Submission
from grading.course_dir.paths import CONFIG
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.site.build import build_site

from .conftest import CHROMIUM, ROOT, student_lab
from .notebook import Notebook
from .serving import patient

LESSON = "02_softmax"
STUDENTS = 14
WRONG = "def softmax(x, dim=-1):\n    e = (x - x.amax(0, keepdim=True)).exp()\n    return e / e.sum(0, keepdim=True)"
FEW = 128  # colours: enough for flat grounds and type


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, chromium() as browser:
        for name, picture in pictures(browser, Path(made)):
            image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(FEW)
            image.save(folder / f"{name}.png", optimize=True)
            print(f"{folder / name}.png: {(folder / f'{name}.png').stat().st_size / 1000:.0f} kB")


def pictures(browser: Browser, place: Path) -> Iterator[tuple[str, bytes]]:
    """Name and picture, one after the other."""
    (place / "home").mkdir()
    with student_lab(place / "home") as address:
        yield from _in_lab(browser, address)
    page = patient(browser, viewport={"width": 1280, "height": 860}).new_page()
    page.goto((_site(place / "course") / f"{LESSON}.html").as_uri())
    page.locator("figure svg").first.evaluate("picture => picture.scrollIntoView({block: 'end'})")
    page.wait_for_load_state("networkidle")
    yield "site", page.screenshot()
    page = patient(browser, viewport={"width": 1280, "height": 860}).new_page()
    page.set_content(class_page(sample_class(), "A sample class", MistakeTexts(ROOT)))
    yield "class", page.screenshot()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])


def _in_lab(browser: Browser, address: str) -> Iterator[tuple[str, bytes]]:
    page = patient(browser, viewport={"width": 1000, "height": 1000}).new_page()
    notebook = Notebook.opened(page, address.format(path=f"{LESSON}.ipynb"))
    page.keyboard.press("Control+b")
    notebook.run_all()
    notebook.write_and_run("def softmax(", WRONG)
    expect(notebook.report("softmax")).to_contain_text("◐ partly right")
    yield "check", _under(page, notebook.cell("def softmax("), notebook.report("softmax"))
    sliders = page.locator(".jp-CodeCell", has=page.locator(".jupyter-widgets")).first
    sliders.scroll_into_view_if_needed()
    moving = sliders.locator(".jupyter-widgets figure svg")
    before = moving.get_attribute("aria-label") or ""
    sliders.get_by_role("slider").first.press("ArrowRight")
    expect(moving).not_to_have_attribute("aria-label", before)
    page.mouse.move(0, 0)
    yield "slider", sliders.screenshot()


def _under(page: Page, first: Locator, last: Locator) -> bytes:
    """From the top of one element to the end of another, in a window that holds both."""
    page.set_viewport_size({"width": 1000, "height": 1500})
    first.scroll_into_view_if_needed()
    above, below = first.bounding_box(), last.bounding_box()
    assert above is not None
    assert below is not None
    end = min(below["y"] + below["height"], 1450)
    return page.screenshot(
        clip={"x": above["x"], "y": above["y"], "width": above["width"], "height": end - above["y"] + 10}
    )


def _site(course: Path) -> Path:
    """The site of one lesson."""
    (course / "source").mkdir(parents=True)
    (course / CONFIG).write_text("c = get_config()\n")
    (course / "source" / f"{LESSON}.py").touch()
    shutil.copytree(ROOT / "release" / LESSON, course / "release" / LESSON)
    shutil.copytree(ROOT / "docs" / "site", course / "docs" / "site")
    shutil.copy(ROOT / "docs" / "course.md", course / "docs")
    return build_site(course, course / "site", Console(quiet=True), workers=1).parent


def sample_class(students: int = STUDENTS) -> Course:
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
    return Course(answers, submissions)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
