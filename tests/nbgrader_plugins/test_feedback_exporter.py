"""The page that a learner gets back, made by nbgrader's own generate_feedback and by the formgrader's way to it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from grading.feedback.page import normalise_headings
from grading.notebooks import sanitize_html

from ..support.html_pages import Elements, assert_harmless
from ..support.nbgrader_runner import course_config, run_converter
from ..support.shared_folders import BuildOnce
from ..support.two_exercise_course import CLASS, LESSON, submit_file, with_answers


@pytest.fixture(scope="module")
def course_after_feedback(graded_course: Any, build_course_once: BuildOnce) -> SimpleNamespace:
    """The graded course with feedback for all, a teacher's comment, points by a person, and a late hand-in."""

    def build(root: Path) -> None:
        shutil.copytree(graded_course.root, root, symlinks=True, dirs_exist_ok=True)
        with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
            gradebook.update_or_create_student("ada", first_name="Ada", last_name="L<b>ovelace")
            comment = gradebook.find_comment("halve", LESSON, LESSON, "ada")
            comment.manual_comment = "Well *done*, $x^2$ <script>pwned()</script>"
            grade = gradebook.find_grade("check_halve", LESSON, LESSON, "cleo")
            grade.manual_score, grade.needs_manual_grade = 4.5, False
            gradebook.find_submission_notebook(LESSON, LESSON, "dan").late_submission_penalty = 2.0
            gradebook.db.commit()
        run_converter(GenerateFeedback, root)

    return SimpleNamespace(root=build_course_once("feedback", build))


@pytest.fixture(scope="module")
def whole_page(course_after_feedback: Any, build_course_once: BuildOnce) -> str:
    """Ada's page where the lesson's text is asked for."""

    def build(root: Path) -> None:
        shutil.copytree(course_after_feedback.root, root, symlinks=True, dirs_exist_ok=True)
        config = course_config(root)
        config.FeedbackExporter.lesson_text = True
        config.CourseDirectory.student_id = "ada"
        made = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
        made.force = True
        made.start()

    root = build_course_once("whole-page", build)
    return (root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")


@pytest.fixture
def page_of(course_after_feedback: Any) -> Callable[[str], str]:
    def page(student: str) -> str:
        path = course_after_feedback.root / "feedback" / student / LESSON / f"{LESSON}.html"
        return str(path.read_text(encoding="utf-8"))

    return page


@pytest.mark.parametrize("student", CLASS)
def test_every_page_runs_nothing_and_loads_nothing(student: str, page_of: Any) -> None:
    page = page_of(student)
    assert_harmless(page)
    metas = Elements(page).named("meta")
    policy = next(meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline';")
    assert sum("http-equiv" in meta for meta in metas) == 1


@pytest.mark.parametrize("student", CLASS)
def test_no_page_holds_a_hidden_test(student: str, page_of: Any) -> None:
    page = page_of(student)
    for line in ("HIDDEN TESTS", "grading.judge", "grade(double)", "grade(halve)"):
        assert line not in Elements(page).text
        assert line not in page


def test_page_says_points_status_and_mistake(page_of: Any) -> None:
    text = " ".join(Elements(page_of("bob")).text.split())
    assert "Halves and doubles bob · 02_halves 0 of 8 points" in text
    assert "double ✗ not right yet 0 of 3 You multiplied x by itself: that is the square. Look at: Doubling" in text
    assert "halve ✗ not right yet 0 of 5 Your cell for halve does not define halve." in text
    assert "Total 0 of 8" in text
    assert "15 of 15 entries wrong" in text
    right = " ".join(Elements(page_of("ben")).text.split())
    assert "8 of 8 points" in right
    assert "double ✓ right 3 of 3" in right
    assert "Repaired before grading" in right  # it was saved as UTF-16
    assert "not saved as UTF-8" in right


def test_pictures_that_were_not_drawn_are_mentioned(whole_page: str) -> None:
    assert "are not run for grading" in whole_page


def test_the_lessons_own_text_and_code_are_there_if_they_are_asked_for(page_of: Any, whole_page: str) -> None:
    shown = Elements(page_of("ada")).text
    for of_the_lesson in ("An equation", "a slow picture", "def check(f)", "Summary"):
        assert of_the_lesson in Elements(whole_page).text
        assert of_the_lesson not in shown
    assert "return 2 * x" in shown
    assert "Look at: Doubling" in Elements(page_of("bob")).text
    assert "Look at: Doubling" not in Elements(whole_page).text


@pytest.mark.full
def test_what_a_student_added_or_changed_is_shown(course: Any) -> None:
    written = with_answers(course.release, begin="def check(f):\n    return 'mine'")
    written["cells"] = [*written["cells"], nbformat.v4.new_code_cell("a_helper_of_mine = 1", id="mine")]
    submit_file(course.root, "ada", written)
    run_converter(Autograde, course.root)
    run_converter(GenerateFeedback, course.root)
    text = Elements((course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()).text
    assert "a_helper_of_mine" in text
    assert "return 'mine'" in text
    assert "a slow picture" not in text


@pytest.mark.full
def test_a_heading_of_a_students_own_is_not_the_lessons_title(course: Any) -> None:
    written = with_answers(course.release)
    written["cells"] = [nbformat.v4.new_markdown_cell("# My own title", id="mine"), *written["cells"]]
    submit_file(course.root, "ada", written)
    run_converter(Autograde, course.root)
    run_converter(GenerateFeedback, course.root)
    page = (course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text()
    assert "<h1>Halves and doubles</h1>" in page
    assert "My own title" in Elements(page).text


def test_students_code_and_text_are_shown_but_tamed(page_of: Any) -> None:
    page = page_of("bob")
    text = Elements(page).text
    for kept in ("kept text", "kept link", "kept box", "kept link two", "kept <script>print</script>"):
        assert kept in text
    assert "ZeroDivisionError" in text
    assert 'alt="kept alt"' in page
    assert "does not define" in page and "0 of 5" in text  # the forged verdict in an output counted for nothing
    assert "x * x" in text


def test_comments_of_a_teacher_are_shown(page_of: Any) -> None:
    page = page_of("ada")
    assert "A note from your teacher" in page
    assert "Well <em>done</em>, <math " in page
    assert "Ada L&lt;b&gt;ovelace (ada)" in page
    assert "A note from your teacher" not in page_of("dan")  # nbgrader's "No response." is no note


def test_repairs_are_shown(page_of: Any) -> None:
    assert "The check was missing and was put back: double." in page_of("eve")
    assert "Repaired before grading" not in page_of("ada")


def test_an_unreadable_notebook_is_reported_and_a_persons_points_count(page_of: Any) -> None:
    text = " ".join(Elements(page_of("cleo")).text.split())
    assert "This notebook could not be graded automatically. The file is cut off" in text
    assert "double ! needs a person open (of 3)" in text
    assert "halve ✎ graded by a person 4.5 of 5" in text
    assert "4.5 of 8 points; a person still has to grade 3 of them" in text
    assert "! double: needs a person, 3 points open" in text
    assert " 0 of " not in text
    assert "These points count, not those above" in text


def test_what_a_person_is_still_to_grade_never_reads_as_a_zero(page_of: Any) -> None:
    text = " ".join(Elements(page_of("fay")).text.split())
    assert "Open: a person will grade 8 points" in text
    assert "Total open (of 8)" in text
    assert " 0 of " not in text


def test_the_late_penalty_is_shown_and_never_leads_below_zero(page_of: Any) -> None:
    text = " ".join(Elements(page_of("dan")).text.split())
    assert "Late submission: −2 points." in text
    assert "Late submission −2 Total 0 of 8" in text
    assert "0 of 8 points" in text


def test_equations_are_mathml(whole_page: str) -> None:
    assert "<mfrac><mi>x</mi><mn>2</mn></mfrac>" in re.sub("</?mrow>", "", whole_page)
    assert "$" not in Elements(whole_page).text


@pytest.mark.parametrize("student", CLASS)
def test_headings_are_in_order_and_links_lead_somewhere(student: str, page_of: Any) -> None:
    elements = Elements(page_of(student))
    levels = [int(tag[1]) for tag, _ in elements.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for link in elements.named("a"):
        target = link.get("href") or ""
        assert not target.startswith("#") or target[1:] in ids
    assert elements.named("html") == [{"lang": "en"}]
    assert all(image.get("alt") for image in elements.named("img"))


@pytest.mark.full("starts the formgrader")
def test_formgrader_makes_the_same_page(course_after_feedback: Any, page_of: Any, tmp_path: Path) -> None:
    root = tmp_path / "course"
    shutil.copytree(course_after_feedback.root, root, symlinks=True)
    shutil.rmtree(root / "feedback")
    config = course_config(root)
    config.HTMLExporter.template_name = "formgrade"  # as the formgrader's extension sets it
    config.HTMLExporter.extra_template_basedirs = [str(tmp_path)]
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    result = api.generate_feedback(LESSON, "ada")
    assert result["success"], result
    assert (root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text() == page_of("ada")


def test_a_notebook_graded_elsewhere_gets_a_page(course: Any) -> None:
    path = course.root / "autograded" / "zoe" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(course.release, path)
    run_converter(GenerateFeedback, course.root)
    page = (course.root / "feedback" / "zoe" / LESSON / f"{LESSON}.html").read_text()
    assert_harmless(page)
    assert "needs a person" in page


def test_headings_are_renumbered_without_gaps() -> None:
    page = "<h1>a</h1><h4 id='x'>b</h4><h6>c</h6><h2>d</h2><h3>e</h3>"
    assert normalise_headings(page) == "<h1>a</h1><h2 id='x'>b</h2><h3>c</h3><h2>d</h2><h3>e</h3>"


def test_sections_of_one_name_get_one_id() -> None:
    page = "".join(sanitize_html.from_markdown("## Predict first") for _ in range(2))
    assert page.count("Predict first") == 2
    assert normalise_headings(page).count('id="section-predict-first"') == 1
