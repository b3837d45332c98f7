"""The pictures in README and docs: run `make screenshots`, then look at them.

    python -m tests.browser.screenshots FOLDER

Each picture stores the words that it shows (`SHOWS`), so that `test_screenshots.py` can tell whether it is out of date.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from rich.console import Console

from grading.class_report.html_page import class_page
from grading.class_report.mistake_texts import MistakeTexts
from grading.course import Course
from grading.course_dir.lessons import MUSEUM
from grading.course_dir.paths import CONFIG
from grading.plugins.site.build import build_site

from .conftest import CHROMIUM, ROOT, student_lab
from .notebook import Notebook
from .pictured import ANSWERS, LESSON, NO_PROSE, WINDOW, WRONG, feedback_page, review_page, sample_class, shown_lines
from .serving import patient

FEW = 128  # colours: enough for flat grounds and type
SHOWS = "Shows"  # the key in the file, beside the picture


@dataclass
class Picture:
    """A picture and the words in it, a line for each piece of text."""

    name: str
    png: bytes
    shows: list[str]

    def save(self, path: Path) -> None:
        about = PngInfo()
        about.add_itxt(SHOWS, "\n".join(self.shows), zip=True)
        Image.open(io.BytesIO(self.png)).convert("RGB").quantize(FEW).save(path, optimize=True, pnginfo=about)


def stored_words(path: Path) -> list[str]:
    """The words that a picture's file says it shows."""
    with Image.open(path) as image:
        return str(image.info.get(SHOWS, "")).splitlines()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, chromium() as browser:
        for picture in pictures(browser, Path(made)):
            path = folder / f"{picture.name}.png"
            picture.save(path)
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def pictures(browser: Browser, place: Path) -> Iterator[Picture]:
    """One picture after the other."""
    yield _page(browser, "report", feedback_page(), {"width": 900, "height": 1136})
    yield _page(browser, "class", class_page(sample_class(), "A sample class", MistakeTexts(ROOT)))
    with review_page(browser, place / "review") as page:
        yield Picture("review", page.screenshot(), shown_lines(page, bottom=WINDOW["height"], but=ANSWERS))
    page = patient(browser, viewport=WINDOW).new_page()
    page.goto((_site(place / "course") / f"{LESSON}.html").as_uri())
    page.locator("figure svg").first.evaluate("picture => picture.scrollIntoView({block: 'end'})")
    page.wait_for_load_state("networkidle")
    prose = shown_lines(page, page.locator("article"), bottom=WINDOW["height"], but=NO_PROSE)
    yield Picture("site", page.screenshot(), [line for line in prose if len(line.split()) >= 4])
    (place / "home").mkdir()
    with student_lab(place / "home") as address:
        yield from _in_lab(browser, address)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])


def _page(browser: Browser, name: str, html: str, window: dict[str, int] = WINDOW) -> Picture:
    """The top of a page."""
    page = patient(browser, viewport=window).new_page()
    page.set_content(html)
    return Picture(name, page.screenshot(), shown_lines(page, bottom=window["height"]))


def _in_lab(browser: Browser, address: str) -> Iterator[Picture]:
    page = patient(browser, viewport={"width": 1000, "height": 1000}).new_page()
    notebook = Notebook.opened(page, address.format(path=f"{LESSON}.ipynb"))
    page.keyboard.press("Control+b")
    notebook.run_all()
    notebook.write_and_run("def softmax(", WRONG)
    report = notebook.report("softmax")
    expect(report.locator(".attn-headline")).to_be_visible()
    yield Picture("check", _under(page, notebook.cell("def softmax("), report), shown_lines(page, report))
    sliders = page.locator(".jp-CodeCell", has=page.locator(".jupyter-widgets")).first
    sliders.scroll_into_view_if_needed()
    moving = sliders.locator(".jupyter-widgets figure svg")
    before = moving.get_attribute("aria-label") or ""
    sliders.get_by_role("slider").first.press("ArrowRight")
    expect(moving).not_to_have_attribute("aria-label", before)
    page.mouse.move(0, 0)
    yield Picture("slider", sliders.screenshot(), [line for line in shown_lines(page, sliders) if "@title" in line])


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
    """The site of one lesson and the bug museum."""
    (course / "source").mkdir(parents=True)
    (course / CONFIG).write_text("c = get_config()\n")
    for name in (LESSON, MUSEUM):  # the first page has a link to it
        (course / "source" / f"{name}.py").touch()
        shutil.copytree(ROOT / "release" / name, course / "release" / name)
    shutil.copytree(ROOT / "docs" / "site", course / "docs" / "site")
    shutil.copy(ROOT / "docs" / "course.md", course / "docs")
    return build_site(Course(course), course / "site", Console(quiet=True), workers=1).parent


if __name__ == "__main__":
    main(Path(sys.argv[1]))
