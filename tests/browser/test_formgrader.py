"""The teacher opens what students handed in, in nbgrader's formgrader and in the feedback: no page does anything.

Every submission `page-*` of the corpus holds a script that would, as the teacher, give its author points through the
formgrader and write a file through the contents API. Each is opened on a real server, signed in, with every link
clicked and every handler set off; then the page, the gradebook and the course's files must be as they were.
"""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, expect

from grading.coordinator.converters import autograde, generate_feedback
from grading.coordinator.demo_class import hand_in
from grading.course import Course
from grading.errors import StepFailed

from ..support.corpus import cases, selected_cases
from .teacher import Teacher, open_page, opening, sang

pytestmark = pytest.mark.browser

LESSON = "02_softmax"
HONEST = "honest"
STRANGE = '"><img src=x onerror=window.sang=1>'
FORMULA = r"from IPython.display import Latex; Latex(r'$\frac{a}{b}$')"
CASES = cases("page")


@pytest.fixture(scope="module")
def teacher(
    request: pytest.FixtureRequest, released_course, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Teacher]:
    root = released_course(LESSON)
    release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    hand_in(root, LESSON, STRANGE, release)
    release.cells.append(new_code_cell(FORMULA))
    hand_in(root, LESSON, HONEST, release)
    for student in [HONEST, *(case.hand_in(root) for case in selected_cases(request))]:
        try:
            autograde(Course(root), LESSON, student)
            generate_feedback(Course(root), LESSON, student)
        except StepFailed as error:  # then that case fails by itself
            print(student, error)
    with opening(root, LESSON, HONEST, browser, tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.mark.quick_cases("page-markdown-script", "page-output-html", "page-metadata")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_submission_in_the_formgrader_does_nothing(teacher, case):
    found = sang(teacher, case.name, teacher.formgrader(case.name))
    assert not found, "; ".join(found)


@pytest.mark.quick_cases("page-markdown-script", "page-output-html", "page-metadata")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_feedback_on_it_does_nothing(teacher, case):
    found = sang(teacher, case.name, teacher.feedback(case.name))
    assert not found, "; ".join(found)


def test_a_name_that_is_html_is_told_and_never_reaches_the_gradebook(teacher):
    with pytest.raises(StepFailed, match="nbgrader does not accept a student id with"):
        autograde(Course(teacher.root), LESSON, STRANGE)
    with Gradebook(f"sqlite:///{teacher.root / 'gradebook.db'}", "attention") as gradebook:
        assert STRANGE not in {student.id for student in gradebook.students}


PLACES = [f"manage_submissions/{LESSON}", f"gradebook/{LESSON}/{LESSON}", "manage_students", "manage_assignments"]


@pytest.mark.full("opens every list of the formgrader")
@pytest.mark.parametrize("place", PLACES)
def test_the_formgraders_lists_run_nothing_of_a_name(teacher, place):
    opened = open_page(teacher, f"{teacher.address}/formgrader/{place}")
    expect(opened.page.locator("table tbody tr").first).not_to_contain_text("Loading")
    assert opened.page.evaluate("window.sang") is None
    opened.page.close()


def test_formulas_show_without_the_internet(teacher):
    opened = open_page(teacher, teacher.formgrader(HONEST))
    opened.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    drawn = opened.page.locator(".text_cell_render math")
    assert drawn.count() > 20
    assert drawn.first.bounding_box()["width"] > 2
    assert not [message for message in opened.told if "math" in message.lower()]
    put_out = opened.page.locator(".output_latex math")
    assert put_out.get_attribute("alttext") == r"\frac{a}{b}"
    assert put_out.bounding_box()["width"] > 2
    opened.page.close()


def test_the_first_box_for_points_is_selected(teacher):
    page = teacher.context.new_page()
    page.goto(teacher.formgrader(HONEST))
    expect(page.locator(".tabbable").first).to_be_focused()
    page.close()
