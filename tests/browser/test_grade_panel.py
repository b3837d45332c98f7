"""The teacher grades all that is new from the formgrader, at a press, and is told what was not graded and why."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from grading.course import Course
from grading.gradebook.lock import exclusive

from ..support import kill_graders
from .serving import TOKEN, patient, serving

pytestmark = pytest.mark.browser

PLACES = {
    "manage_assignments": "in every lesson",
    f"manage_submissions/{kill_graders.LESSON}": f"in {kill_graders.LESSON}",
}


@pytest.fixture(scope="module")
def handed_in(sandboxed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("panel") / "course"
    kill_graders.make_class(root)
    other = root / "submitted" / "gus" / kill_graders.LESSON
    other.mkdir(parents=True)
    (other / "essay.txt").write_text("I prefer prose.")
    return root


@pytest.fixture
def course(handed_in: Path, tmp_path: Path) -> Path:
    return shutil.copytree(handed_in, tmp_path / "course")


@pytest.fixture
def page(course: Path, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    (tmp_path / "home").mkdir()
    with serving(course, tmp_path / "home") as address:
        opened = patient(browser, base_url=f"{address}/formgrader/").new_page()
        opened.goto(f"{address}/tree?token={TOKEN}")  # signs in
        yield opened
        opened.context.close()


@pytest.mark.full("grades a class")
@pytest.mark.parametrize("place", PLACES)
def test_all_that_is_new_is_graded_at_a_press(course, page, place):
    page.goto(place)
    panel = page.locator("#grade-new")
    expect(panel.get_by_role("status")).to_contain_text(PLACES[place])
    panel.get_by_role("button", name="Grade all that is new").click()
    expect(panel.get_by_role("progressbar")).to_be_visible()
    expect(panel.get_by_role("status")).to_contain_text("6 of 7 graded.")
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden()
    expect(panel.get_by_role("listitem")).to_have_text(
        re.compile("gus: No 01_double.ipynb was handed in, but essay.txt")
    )
    given = {student: points for (student, _), (points, _) in Course(course).scores().items()}
    assert given == {student: points for student, (_, points) in kill_graders.CLASS.items()}

    page.reload()
    panel.get_by_role("button", name="Grade all that is new").click()
    expect(panel.get_by_role("status")).to_contain_text("0 of 1 graded")


@pytest.mark.full("grades a class")
def test_what_is_stopped_goes_on_and_who_is_at_work_is_told(course, page):
    page.goto("manage_assignments")
    panel = page.locator("#grade-new")
    start, stop = (panel.get_by_role("button", name=name) for name in ("Grade all that is new", "Stop"))
    with exclusive(course):
        start.click()
        expect(panel.locator("pre")).to_contain_text("is already being graded")
    start.click()
    expect(panel.get_by_role("status")).to_contain_text(re.compile(r"[1-5] of 7 graded …"))
    stop.click()
    expect(panel.locator("pre")).to_contain_text(re.compile(r"stopped\. \d of \d submissions are graded and kept"))
    assert 0 < len(Course(course).scores()) < len(kill_graders.CLASS)
    start.click()
    expect(panel.get_by_role("status")).to_contain_text(" graded.")
    assert Course(course).scores().keys() == {(student, kill_graders.LESSON) for student in kill_graders.CLASS}
