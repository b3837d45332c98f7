"""The formgrader's page of one submission is short, and shows first what needs a person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from rich.console import Console

from course.report import MARKS
from grading.coordinator.grade_class import grade_class
from grading.course import Course

from ..support.by_hand_lesson import (
    ANSWER,
    CODE,
    LESSON,
    TASK,
    WHY,
    course_by_hand,
    grade_by_hand,
    hand_in_by_hand,
    open_book,
    open_cells,
)
from ..support.course_builder import submit
from .teacher import Teacher, opening

pytestmark = pytest.mark.browser

RIGHT, WAITS = (" ".join(MARKS[status][:2]) for status in ("right", "needs a person"))
SCREEN = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def teacher(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Teacher]:
    root = course_by_hand(tmp_path_factory.mktemp("folding") / "course")
    for student in ("ada", "bob", "cleo", "dan"):  # cleo's and dan's points are changed by a test each, in any order
        hand_in_by_hand(root, student)
    assert not grade_class(Course(root, unsandboxed=True), [LESSON], Console(quiet=True)).failed
    for student in ("bob", "dan"):
        grade_by_hand(root, student, {ANSWER: 3, CODE: 4, TASK: 1, WHY: 2})
    with opening(root, LESSON, "bob", browser, tmp_path_factory.mktemp("home")) as made:
        yield made


def opened(teacher: Teacher, student: str, more: str = "") -> Page:
    page = teacher.context.new_page()
    page.set_viewport_size(SCREEN)
    page.goto(teacher.formgrader(student) + more)
    expect(page.locator("#open-work")).not_to_be_empty()
    return page


def test_what_needs_a_person_is_open_and_what_is_right_is_one_line(teacher):
    page = opened(teacher, "ada")
    expect(page.locator("#open-work button")).to_have_text([ANSWER, CODE, TASK, WHY])
    expect(page.locator("details.graded > summary .found")).to_have_text(
        [f"{RIGHT} · 5 of 5", *[WAITS] * 4], use_inner_text=True
    )
    expect(page.get_by_text("My essay.")).to_be_visible()
    expect(page.get_by_text("Explain why twice is")).to_be_visible()  # the question is beside its answer
    expect(page.locator(f"#{WHY}")).to_be_visible()
    expect(page.locator("#check_double")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * SCREEN["height"]
    expect(page.get_by_text("%%answer why")).to_have_count(0)  # an answer in prose is shown as prose
    page.close()


def test_a_graded_submission_fits_one_screen_and_each_line_opens(teacher):
    page = opened(teacher, "bob")
    expect(page.locator("#open-work")).to_have_text("Nothing needs a person.")
    assert page.evaluate("document.documentElement.scrollHeight") <= SCREEN["height"]
    page.locator("summary", has_text="double").first.click()
    expect(page.locator("#check_double")).to_be_visible()
    page.close()


def test_tab_goes_through_what_is_open_and_enter_opens_a_line(teacher):
    page = opened(teacher, "bob")
    page.wait_for_load_state("networkidle")
    seen = []
    for _ in range(5):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent"))
    assert [text.split()[0] for text in seen] == ["double", ANSWER, CODE, TASK, WHY]
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(page.locator(f"#{WHY}")).to_be_focused()
    page.close()


def test_points_that_are_typed_settle_the_line_and_the_list(teacher):
    page = opened(teacher, "cleo")
    page.wait_for_load_state("networkidle")
    page.locator("#open-work button", has_text=CODE).click()
    expect(page.locator(f"#{CODE}")).to_be_focused()
    page.keyboard.type("3.5")
    page.keyboard.press("Tab")
    expect(page.locator("#open-work button")).to_have_text([ANSWER, TASK, WHY])
    expect(page.locator("summary", has_text=CODE)).to_contain_text("graded by a person · 3.5 of 4")
    page.wait_for_load_state("networkidle")
    assert open_cells(teacher.root, "cleo") == {ANSWER, TASK, WHY}
    page.close()


def test_the_box_that_an_address_names_is_shown_although_its_line_is_folded(teacher):
    page = opened(teacher, "bob")
    number = page.evaluate(f"$('.tabbable').index(document.getElementById('{ANSWER}'))")
    page.close()
    page = opened(teacher, "bob", f"?index={number}")  # as nbgrader goes on to the next submission
    expect(page.locator(f"#{ANSWER}")).to_be_focused()
    page.close()


def test_a_reopened_exercise_can_be_settled_as_it_is(teacher):
    with open_book(teacher.root) as gradebook:
        gradebook.find_grade("check_double", LESSON, LESSON, "dan").needs_manual_grade = True
        gradebook.db.commit()
    page = opened(teacher, "dan")
    expect(page.locator("#open-work button")).to_have_text(["double"])
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Resolve").locator("visible=true").click()
    expect(page.locator("#open-work")).to_have_text("Nothing needs a person.")
    page.close()


@pytest.mark.full("grades a whole lesson")
def test_lesson_02_is_one_screen(released_course, browser, tmp_path):
    root = released_course("02_softmax")
    submit(root, "02_softmax", "ada")
    assert not grade_class(Course(root, unsandboxed=True), ["02_softmax"], Console(quiet=True), students=["ada"]).failed
    with opening(root, "02_softmax", "ada", browser, tmp_path) as teacher:
        page = opened(teacher, "ada")
        assert page.evaluate("document.documentElement.scrollHeight") <= SCREEN["height"]
