"""A person grades a class by hand in the review page, in a real browser over the real command."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from grading.course import Course

from ..support.review_course import DOUBLE, ESSAY, LESSON, STUB, WHY, make_review_course
from .axe import violations
from .conftest import overflow
from .serving import foreign_requests, patient, reviewing

pytestmark = pytest.mark.browser

GREW = "Because the **variance** grows."
HOSTILE = (
    "<script>window.sang=1;document.title='sang'</script><img src=x onerror=\"window.sang=1\">"
    '<a href="javascript:window.sang=1">link</a><iframe srcdoc="<script>parent.sang=1</script>"></iframe>\u202eevil\n'
)
LONG = "a long answer " * 75_000
TEN = [
    GREW,
    GREW.lower(),
    f"- {GREW}",
    "Saturates.",
    "saturates",
    "Nicer.",
    "Smaller.",
    "No idea.",
    "Scaling.",
    "Because.",
]
CLASS = {f"s{number:02}": {WHY: text, ESSAY: "Later words."} for number, text in enumerate(TEN)}
HOSTILE_CLASS = {
    "mallory": {WHY: HOSTILE, ESSAY: HOSTILE, DOUBLE: ""},
    "longa": {WHY: LONG, ESSAY: HOSTILE + LONG},
    "eve": {WHY: STUB},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_review_course(tmp_path_factory.mktemp("review") / "course", CLASS)


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "course")


@pytest.fixture
def address(course: Path) -> Iterator[str]:
    with reviewing(course, LESSON) as (found, _):
        yield found


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages, each of a browser of its own; none may complain, or ask anybody else for anything."""
    pages, told = list[Page](), list[str]()

    def open_one(address: str, *, looks: bool = True, **options: object) -> Page:
        """looks: whether the page looks from time to time for what others did."""
        page = patient(browser, **options).new_page()
        if not looks:
            page.clock.install()
            page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        pages.append(page)
        page.told, page.foreign = told, foreign_requests(page)
        page.goto(address)
        expect(page.locator("#groups button").first).to_be_visible()
        return page

    yield open_one
    assert [text for text in told if "409" not in text] == []  # a conflict, which a test wants
    assert [page.foreign for page in pages] == [[] for _ in pages]
    for page in pages:
        page.context.close()


def given(root: Path, cell: str = WHY) -> dict[str, tuple[float | None, str | None]]:
    """Student -> points by hand and comment, as nbgrader has them."""
    with Course(root).gradebook() as gradebook:
        found = {}
        for submission in gradebook.assignment_submissions(LESSON):
            student = submission.student.id
            grade = gradebook.find_grade(cell, LESSON, LESSON, student)
            found[student] = grade.manual_score, gradebook.find_comment(cell, LESSON, LESSON, student).manual_comment
        return found


def says(page: Page, text: str) -> None:
    expect(page.get_by_role("status").first).to_contain_text(text)


def test_a_class_of_ten_is_graded_by_keyboard_alone(course, address, open_page):
    page = open_page(address)
    expect(page.locator("#list-title")).to_have_text("0 of 10 graded")
    expect(page.locator("#groups li")).to_have_count(7)
    for keys in ("1", "2", "13", "0"):  # three alike, two alike, and two of one each
        current = page.locator("#groups [aria-current] b").inner_text()
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        expect(page.locator("#groups [aria-current] b")).not_to_have_text(current)
    page.keyboard.press("a")
    page.keyboard.type("1.25")
    page.keyboard.press("Enter")
    says(page, "1.25 points")
    page.keyboard.press("c")
    page.keyboard.type("Nearly.")
    page.keyboard.press("Escape")
    says(page, "Comment saved.")
    for _ in range(2):
        page.keyboard.press("n")
        page.keyboard.press("2")
        says(page, "0.5 points")
    expect(page.locator("#list-title")).to_have_text("10 of 10 graded")
    expect(page.locator("#questions [aria-current]")).to_contain_text("10 of 10 graded ✓")
    found = given(course)
    assert [found[f"s{number:02}"][0] for number in range(5)] == [1.5, 1.5, 1.5, 0.5, 0.5]
    assert sorted(points for points, _ in list(found.values())[5:]) == [0.0, 0.5, 0.5, 1.0, 1.25]
    assert [comment for _, comment in found.values() if comment] == ["Nearly."]


def test_undo_takes_back_step_by_step_and_any_step_can_be_chosen(course, address, open_page):
    page = open_page(address)
    page.keyboard.press("1")
    page.keyboard.press("2")
    says(page, "2 points")
    page.keyboard.press("u")
    says(page, "Undone: 3 answers graded")
    assert given(course)["s00"][0] == 1.5
    page.keyboard.press("j")
    page.keyboard.press("2")
    says(page, "0.5 points")
    page.keyboard.press("s")
    page.get_by_role("button", name="Undo: Why scale?: 3 answers graded").click()
    expect(page.get_by_role("button", name="Undone: Why scale?: 3 answers graded")).to_have_count(2)
    page.keyboard.press("Escape")
    assert {points for points, _ in given(course).values()} == {None, 0.5}


def test_of_two_pages_at_once_the_slower_sees_the_others_grade_and_chooses(course, address, open_page):
    ann, bob = open_page(address, looks=False), open_page(address)
    bob.keyboard.press("2")
    says(bob, "0.5 points")
    ann.keyboard.press("1")
    dialog = ann.get_by_role("dialog", name="Somebody else was faster")
    expect(dialog).to_contain_text("0.5 points; Softmax saturates")
    expect(dialog.locator("#mine")).to_have_text("The variance grows with the dimension")
    assert given(course)["s00"][0] == 0.5
    dialog.get_by_role("button", name="Keep theirs").click()
    assert given(course)["s00"][0] == 0.5
    bob.keyboard.press("2")
    says(bob, "no points, open")
    ann.keyboard.press("1")
    expect(dialog).to_contain_text("no points")
    dialog.get_by_role("button", name="Use mine").click()
    expect(ann.locator("#points")).to_contain_text("2 of 2 points")  # she had seen his item, and added hers
    assert given(course)["s00"][0] == 2.0
    expect(bob.locator("#points")).to_contain_text("2 of 2 points")  # without being touched


def test_a_click_is_not_lost_if_the_list_is_drawn_again_between_press_and_release(course, address, open_page):
    ann, bob = open_page(address), open_page(address)
    button = ann.locator("#groups button", has_text="Nicer.")
    button.hover()
    ann.mouse.down()
    bob.keyboard.press("1")  # which ann's page shows in the row of three like answers
    expect(ann.locator("#groups .score").first).to_have_text("1.5 ✓")
    expect(ann.locator("#groups [aria-current]")).not_to_contain_text("Nicer.")
    ann.mouse.up()
    expect(ann.locator("#groups [aria-current]")).to_contain_text("Nicer.")


def test_the_list_of_answers_grows_and_shrinks_and_keeps_rows_that_stay_the_same(course, address, open_page):
    page = open_page(address)
    rows = page.locator("#groups li")
    before = rows.all_text_contents()
    last = rows.last.element_handle()
    page.keyboard.press("1")
    expect(rows.first).to_contain_text("1.5 ✓")
    assert last.evaluate("row => row.isConnected")
    page.keyboard.press("u")
    expect(rows).to_have_text(before)
    page.keyboard.press("o")  # one answer out of its group
    expect(rows).to_have_count(len(before) + 1)
    page.keyboard.press("o")  # and back
    expect(rows).to_have_text(before)


def test_a_conflict_with_one_of_a_group_leaves_the_others_to_be_graded(course, address, open_page):
    page = open_page(address, looks=False)
    with Course(course).gradebook() as formgrader:
        row = formgrader.find_grade(WHY, LESSON, LESSON, "s01")
        row.manual_score, row.needs_manual_grade = 1, False
        formgrader.db.commit()
    page.keyboard.press("1")
    expect(page.locator("#theirs li")).to_contain_text("S01 Doe (s01): 1 point")
    page.get_by_role("button", name="Keep theirs, and grade the other 2").click()
    expect(page.locator("#members .score", has_text="1.5")).to_have_count(2)
    assert [given(course)[student][0] for student in ("s00", "s01", "s02")] == [1.5, 1.0, 1.5]


def test_the_formgraders_grade_is_shown(course, open_page):
    with Course(course).gradebook() as formgrader:
        row = formgrader.find_grade(WHY, LESSON, LESSON, "s05")
        row.manual_score, row.needs_manual_grade = 1.75, False
        formgrader.find_comment(WHY, LESSON, LESSON, "s05").manual_comment = "From the formgrader."
        formgrader.db.commit()
    with reviewing(course, LESSON) as (address, _):
        page = open_page(address)
        page.locator("#groups button", has_text="Nicer.").click()
        expect(page.locator("#points")).to_contain_text("1.75 of 2 points")
        expect(page.locator("#given")).to_contain_text("formgrader")
        expect(page.locator("#comment")).to_have_value("From the formgrader.")


def test_one_answer_is_taken_out_of_its_group_and_graded_alone(course, address, open_page):
    page = open_page(address)
    page.locator("#alike summary").click()
    page.get_by_role("button", name="Take S01 Doe (s01) out").click()
    expect(page.locator("#answer-title")).to_have_text("S01 Doe (s01)")
    page.keyboard.press("2")
    says(page, "0.5 points")
    page.locator("#groups button", has_text=re.compile("2 like answers.*variance")).click()
    page.keyboard.press("1")
    says(page, "2 answers: 1.5 points")
    assert [given(course)[student][0] for student in ("s00", "s01", "s02")] == [1.5, 0.5, 1.5]
    page.locator("#groups button", has_text="S01 Doe").click()
    page.keyboard.press("o")
    expect(page.locator("#mixed")).to_contain_text("1 of these 3 has other points.")
    page.keyboard.press("g")
    says(page, "3 answers")
    assert {given(course)[student][0] for student in ("s00", "s01", "s02")} == {1.5}


def test_a_changed_rubric_shows_what_changes_before_it_does(course, address, open_page):
    page = open_page(address)
    page.keyboard.press("1")
    says(page, "3 answers: 1.5 points")
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Points of the item").first.fill("1")
    page.get_by_role("button", name="Add an item").click()
    page.keyboard.type("0,5")
    page.keyboard.press("Tab")
    page.keyboard.type("Names an example")
    page.get_by_role("button", name="Show what changes").click()
    expect(page.locator("#effect")).to_have_text("3 answers: 1.5 → 1")
    assert given(course)["s00"][0] == 1.5
    page.get_by_role("button", name="Apply").click()
    says(page, "The rubric is changed.")
    page.keyboard.press("4")
    says(page, "3 answers: 1.5 points")
    assert [given(course)[student][0] for student in ("s00", "s01", "s02")] == [1.5, 1.5, 1.5]
    page.keyboard.press("u")
    page.keyboard.press("u")
    says(page, "Undone: rubric changed, and 3 answers with it")
    expect(page.locator("#items li")).to_have_count(3)
    assert given(course)["s00"][0] == 1.5


def test_a_question_without_a_rubric_gets_one(course, address, open_page):
    page = open_page(address)
    page.keyboard.press("]")
    expect(page.locator("#questions [aria-current]")).to_contain_text("essay")
    page.keyboard.press("e")
    page.keyboard.type("3")
    page.keyboard.press("Tab")
    page.keyboard.type("Names later words")
    page.get_by_role("button", name="Show what changes").click()
    page.get_by_role("button", name="Apply").click()
    says(page, "The rubric is changed.")
    page.keyboard.press("1")
    says(page, "10 answers: 3 points")
    assert {points for points, _ in given(course, ESSAY).values()} == {3.0}


def test_a_comment_is_kept_in_the_bank_and_inserted_by_a_key(course, address, open_page):
    page = open_page(address)
    page.keyboard.press("c")
    page.keyboard.type("Say why.")
    page.keyboard.press("Escape")
    says(page, "Comment saved.")
    page.keyboard.press("b")
    page.get_by_role("button", name="Keep the comment").click()
    expect(page.locator("#bank-list")).to_contain_text("used 3 times")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#comment")).to_have_value("")
    page.keyboard.press("b")
    expect(page.locator("#bank-list .insert")).to_be_focused()
    with page.expect_response(re.compile("/grade")):
        page.keyboard.press("1")
    assert [comment for _, comment in given(course).values()].count("Say why.") == 5
    assert 'text = "Say why."' in (course / "comments.toml").read_text()


def test_an_answer_that_comes_late_leaves_the_next_question_alone(course, address, open_page):
    page = open_page(address, looks=False)
    answers, questions = [], []
    page.route("**/api/answer?*", lambda route: answers.append(route))
    page.locator("#groups button").nth(3).click()
    expect(page.locator("#groups button").nth(3)).to_have_attribute("aria-current", "true")
    page.route("**/api/question?*", lambda route: questions.append(route))
    page.keyboard.press("]")
    while not (answers and questions):
        page.evaluate("0")  # lets the page's requests arrive
    with page.expect_response(re.compile("/api/answer")):
        for route in answers:
            route.continue_()
    page.unroute("**/api/answer?*")
    questions[0].continue_()
    expect(page.locator("#questions [aria-current]")).to_contain_text("essay")
    expect(page.locator("#answer, #rendered").filter(visible=True)).to_have_text("Later words.")


def test_points_are_for_the_answer_that_an_earlier_key_leads_to(course, address, open_page):
    page = open_page(address)
    looks = []
    page.route("**/api/question?*", lambda route: looks.append(route), times=1)
    while not looks:
        page.evaluate("0")  # until the page looks for what others did
    page.keyboard.press("n")
    page.keyboard.press("2")
    looks[0].continue_()
    says(page, "2 answers: 0.5 points")
    assert {student for student, (points, _) in given(course).items() if points is not None} == {"s03", "s04"}


def test_a_person_alone_in_two_questions_is_shown_with_the_answer_to_each(course, address, open_page):
    page = open_page(address)
    page.locator("#alike summary").click()
    for tab, own in (("Why scale?", "variance"), ("essay", "Later words.")):
        page.locator("#questions button", has_text=tab).click()
        page.get_by_role("button", name=re.compile("Take .*s00.* out")).click()
        page.locator("#groups [aria-current]", has_text="(s00)").wait_for()
        page.locator("#answer[data-key*=alone]").wait_for(state="attached")
        assert own in page.locator("#answer").text_content()


def test_names_are_hidden_if_asked_and_in_no_answer_of_the_server(course, open_page):
    with reviewing(course, LESSON, "--anonymous") as (address, _):
        page = open_page(address)
        expect(page.locator("#groups")).to_contain_text("Answer")
        assert "Doe" not in page.content()
        page.keyboard.press("h")
        expect(page.locator("#groups")).to_contain_text("Doe")
        page.keyboard.press("h")
        expect(page.locator("#groups")).not_to_contain_text("Doe")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_page_and_its_boxes_are_for_everyone(course, address, open_page, theme, width):
    page = open_page(address, color_scheme=theme, viewport={"width": width, "height": 800})
    page.keyboard.press("1")
    says(page, "1.5 points")
    page.locator("#alike summary").click()
    page.keyboard.press("m")
    assert violations(page) == []
    assert overflow(page) == []
    for key, box in (("?", "keys"), ("b", "bank"), ("e", "rubric"), ("s", "steps")):
        page.locator("#list-title").click()
        page.keyboard.press(key)
        expect(page.locator(f"#{box}")).to_be_visible()
        assert violations(page) == []
        assert overflow(page) == []
        page.keyboard.press("Escape")


def test_system_colours_are_kept_and_show_what_is_chosen(course, address, open_page):
    page = open_page(address, forced_colors="active")
    page.keyboard.press("1")
    says(page, "1.5 points")
    assert violations(page) == []
    ground = "button => getComputedStyle(button).backgroundColor"
    for chosen, other in (
        ("#questions [aria-current]", "#questions button:not([aria-current])"),
        ("#groups [aria-current]", "#groups button:not([aria-current])"),
        ("#items [aria-pressed=true]", "#items [aria-pressed=false]"),
    ):
        assert page.locator(chosen).first.evaluate(ground) != page.locator(other).first.evaluate(ground)


def test_a_print_is_light_and_has_the_points_of_every_answer(course, address, open_page):
    page = open_page(address, color_scheme="dark")
    page.keyboard.press("1")
    says(page, "1.5 points")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 720, "height": 400})  # paper in portrait
    assert page.locator("#questions [aria-current]").is_visible()
    assert page.locator("#points").is_visible()
    groups = page.locator("#groups")
    assert groups.evaluate("list => list.scrollHeight <= list.clientHeight + 1")
    scores = page.locator(":is(#groups, #members) .score").all()
    assert len(scores) == 7 + 3
    assert all(score.is_visible() for score in scores)
    assert overflow(page) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_what_a_student_wrote_is_shown_and_does_nothing(tmp_path, open_page):
    root = make_review_course(tmp_path / "course", HOSTILE_CLASS)
    with reviewing(root, LESSON) as (address, _):
        page = open_page(address)
        tabs = {WHY: "Why scale?", ESSAY: "essay", DOUBLE: "double"}
        written = [
            (cell, who, text)
            for who, answers in HOSTILE_CLASS.items()
            for cell, text in answers.items()
            if who != "eve"
        ]
        for cell, student, text in written:
            page.locator("#questions button", has_text=tabs[cell]).click()
            expect(page.locator("#questions [aria-current]")).to_contain_text(tabs[cell])
            page.locator("#groups button", has_text=f"({student})").click()
            expect(page.locator("#answer-title")).to_contain_text(f"({student})")
            expect(page.locator("#answer")).to_contain_text(text[:40] or "NotImplementedError")
            if text == HOSTILE:
                expect(page.locator("#rendered")).to_contain_text("evil")
            if len(text) > 100_000:
                expect(page.locator("#cut")).to_contain_text(f"the answer has {len(text.strip()) // 1_000_000},0")
                assert len(page.locator("#answer").inner_text()) <= 100_000
        assert page.evaluate("window.sang") is None
        assert page.title() == f"{LESSON}: grade by hand"
        acting = "script, iframe, object, form, img, a[href], [onclick], [onerror], [srcdoc]"
        assert page.locator(f"main :is({acting})").count() == 0
        assert overflow(page) == []


def test_an_answer_is_rendered_and_can_be_seen_as_it_was_written(tmp_path, open_page):
    root = make_review_course(tmp_path / "course", {"ada": {WHY: "The variance is **$d$**."}})
    with reviewing(root, LESSON) as (address, _):
        page = open_page(address)
        expect(page.locator("#rendered strong math")).to_be_visible()
        expect(page.locator("#answer")).to_be_hidden()
        page.keyboard.press("w")
        expect(page.locator("#answer")).to_have_text("The variance is **$d$**.")
        expect(page.locator("#answer")).to_be_visible()
        expect(page.locator("#rendered")).to_be_hidden()


def test_a_page_without_the_token_or_from_elsewhere_gets_nothing(address, browser):
    page = patient(browser).new_page()
    page.goto(address.split("?")[0])
    expect(page.locator("#notice")).to_contain_text("needs the address")
    expect(page.locator("main")).to_be_hidden()
    token = address.partition("token=")[2]
    api, host = f"{address.split('?')[0]}api/overview", address.split("/")[2]
    right = {"Authorization": f"token {token}"}
    ask = page.context.request.get
    assert ask(api, headers=right).status == 200
    assert ask(api).status == 403
    assert ask(api, headers={"Authorization": "token x"}).status == 403
    assert ask(api, headers={**right, "Host": f"evil.example:{host.split(':')[1]}"}).status == 403
    assert ask(api, headers={**right, "Origin": "https://evil.example"}).status == 403
    assert ask(f"{address.split('?')[0]}static/../desk.py").status == 404
    page.context.close()


def test_ctrl_c_says_what_was_saved_and_how_to_go_on(course, open_page):
    with reviewing(course, LESSON, WHY) as (address, running):
        page = open_page(address)
        page.keyboard.press("1")
        says(page, "1.5 points")
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=60)[0]
        assert said.splitlines()[-1] == (
            "1 step of grading saved. 27 answers wait for a person. Run `grading review 01_essay` to continue."
        )
        assert running.returncode == 1
        page.keyboard.press("2")
        expect(page.locator("#notice")).to_contain_text("is `grading review` still running?")
        page.close()
        page.told.clear()  # the browser's own messages about a server that is gone
