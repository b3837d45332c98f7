"""The whole road of nbgrader's formgrader, in one lesson and with two students, for a teacher who loves no terminal:
due date, release, preview, autograde, open, points by hand, comment, feedback, and the export at its end."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from grading.authoring.build import build_lesson
from grading.coordinator.demo_class import hand_in
from grading.course import Course

from ..support.course_builder import TINY, TINY_LESSONS, build_course, solved_notebook
from .serving import BIN, TOKEN, foreign_requests, patient, serving

pytestmark = pytest.mark.browser

LESSON = TINY_LESSONS[0]


@pytest.fixture
def course(sandboxed: None, tmp_path: Path) -> Path:
    """A lesson that is built, and nothing else."""
    root = build_course(tmp_path / "course", TINY[:1])
    build_lesson(root, LESSON)
    return root


@pytest.fixture
def teacher(course: Path, browser: Browser, tmp_path: Path) -> Iterator[BrowserContext]:
    (tmp_path / "home").mkdir()
    with serving(course, tmp_path / "home") as address:
        context = patient(browser, base_url=f"{address}/formgrader/")
        context.new_page().goto(f"{address}/tree?token={TOKEN}")  # signs in
        yield context
        context.close()


def done(page: Page, action: Locator, told: str) -> None:
    """Press what takes nbgrader a while, and close the box in which it says so."""
    action.click()
    box = page.locator("#success-modal")
    expect(box).to_contain_text(told)
    box.get_by_role("button", name="OK").click()
    expect(box).to_be_hidden()


def row(page: Page, place: str, cell: str) -> Locator:
    """The row of one of the formgrader's lists that has this cell, by its text or a selector."""
    page.goto(place)
    found = page.locator("#main-table tr", has=page.locator(cell))
    expect(found).to_be_visible()
    return found


@pytest.mark.full("releases, grades and returns a lesson by hand")
def test_a_teacher_goes_the_whole_road_in_the_formgrader(course, teacher):
    page = teacher.new_page()
    foreign = foreign_requests(page)

    lesson = row(page, "manage_assignments", f"text={LESSON}")
    lesson.locator(".edit a").click()
    page.locator(".modal-duedate").fill("2026-11-20T23:59")
    page.locator(".modal-timezone").fill("+0000")
    page.get_by_role("button", name="Save").click()
    expect(lesson.locator(".duedate")).to_contain_text("2026-11-20 23:59")
    done(page, lesson.locator(".assign a"), "Successfully created the student version")
    release = (course / "release" / LESSON / f"{LESSON}.ipynb").read_text(encoding="utf-8")
    assert "raise NotImplementedError" in release and "return (2 * x)" not in release
    with teacher.expect_page() as opened:
        lesson.locator(".preview a").click()
    expect(opened.value.get_by_text(f"{LESSON}.ipynb").first).to_be_visible()
    opened.value.close()

    right = solved_notebook(course, LESSON)
    hand_in(course, LESSON, "ada", right)
    hand_in(course, LESSON, "bob", right)
    (course / "submitted" / "bob" / LESSON / f"{LESSON}.ipynb").write_text('{"cells": [')  # cut off
    ada = row(page, f"manage_submissions/{LESSON}", "text=ada")
    done(page, ada.locator(".autograde a"), "Successfully autograded")
    expect(ada.locator(".score")).to_have_text("5 / 5")
    page.get_by_role("button", name="Grade all that is new").click()
    expect(page.locator("#grade-new").get_by_role("status")).to_contain_text("1 of 1 graded.")
    expect(row(page, f"manage_submissions/{LESSON}", "text=bob").locator(".status")).to_have_text(
        "needs manual grading"
    )

    waits = row(page, f"gradebook/{LESSON}/{LESSON}", ".needs-manual-grade .glyphicon-ok")
    waits.get_by_role("link", name="Submission").click()
    points, comment = page.locator("input.score"), page.locator("textarea.comment").last
    expect(points).to_have_class(re.compile("needs_manual_grade"))  # what was given before is there
    page.wait_for_load_state("networkidle")
    points.fill("2")
    points.press("Tab")
    comment.fill("Typed from your printout.")
    comment.press("Tab")
    expect(points).not_to_have_class(re.compile("needs_manual_grade"))
    page.wait_for_load_state("networkidle")
    page.reload()
    expect(points).to_have_value("2")
    expect(comment).to_have_value("Typed from your printout.")
    assert Course(course).scores() == {("ada", LESSON): (5, 5), ("bob", LESSON): (2, 5)}

    bob = row(page, f"manage_submissions/{LESSON}", "text=bob")
    expect(bob.locator(".status")).to_have_text("graded")
    done(page, bob.locator(".generate-feedback a"), "Successfully generated feedback")
    told = (course / "feedback" / "bob" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert "Typed from your printout." in told and "<b>2</b> of 5" in told
    subprocess.run([BIN / "nbgrader", "export", "--to=grades.csv"], cwd=course, check=True, capture_output=True)
    with (course / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {one["student_id"]: one["score"] for one in csv.DictReader(file)} == {"ada": "5", "bob": "2"}
    assert not foreign
