"""The review page and nbgrader's own columns always agree."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook

from grading.coordinator.reopen import reopen
from grading.course import Course
from grading.errors import Conflict, ReviewError
from grading.exercises.question import load_questions
from grading.exercises.rubric import with_edited_rubrics
from grading.gradebook.late_rules import reason_kept
from grading.gradebook.view import known_to_gradebook
from grading.plugins.people.personal_rows import delete_rows
from grading.plugins.review.marks import MarkRow
from grading.plugins.review.steps import ChangeRow

from ...support.course_builder import add_config
from ...support.review_course import DOUBLE, ESSAY, EXPLORE, LESSON, SKETCH, TROUBLE, WHY, add_answers, open_desk
from .conftest import GREW
from .reading import grade, in_nbgrader, key_of, members, seen


def test_the_overview_lists_the_questions_with_their_progress(desk):
    rows = {row["key"]: (row["kind"], row["points"], row["done"], row["total"]) for row in desk.overview()["questions"]}
    assert rows == {
        key_of(WHY): ("written", 2.0, 1, 5),  # eve's answer is empty, so it has no points
        key_of(ESSAY): ("written", 3.0, 2, 5),
        key_of(SKETCH): ("written", 1.0, 2, 5),
        key_of(EXPLORE): ("task", 2.0, 0, 5),
        key_of(DOUBLE): ("exercise", 3.0, 0, 1),
    }


def test_items_give_points_and_a_comment_to_nbgrader(desk, course):
    grade(desk, WHY, "ada", items=["variance", "softmax"], comment="Well said.\n")
    assert in_nbgrader(desk, WHY, "ada") == (2.0, None, False, "Well said.")
    assert members(desk, WHY)["ada"]["items"] == ["variance", "softmax"]
    assert members(desk, WHY)["ada"]["by"] == "ann"
    assert ("ada", LESSON, WHY) not in Course(course).needs_manual_grading()
    assert Course(course).scores()["ada", LESSON] == (5.0, 11.0)  # including the exercise that the grader found correct


def test_a_group_of_equivalent_answers_is_graded_at_once(desk):
    found = members(desk, WHY)
    assert found["ada"]["group"] == found["ben"]["group"] == found["cy"]["group"] != found["dan"]["group"]
    grade(desk, WHY, "ada", "ben", "cy", items=["variance"])
    assert [in_nbgrader(desk, WHY, student)[0] for student in ("ada", "ben", "cy", "dan")] == [1.5, 1.5, 1.5, None]


def test_an_answer_taken_out_of_its_group_is_graded_alone_and_can_be_put_back(desk):
    desk.take_out("ann", "p", key_of(WHY), seen(desk, WHY, "ben"), True)
    found = members(desk, WHY)
    assert found["ben"]["alone"]
    assert found["ben"]["group"] != found["ada"]["group"] == found["cy"]["group"]
    desk.take_out("ann", "p", key_of(WHY), seen(desk, WHY, "ben"), False)
    assert members(desk, WHY)["ben"]["group"] == found["ada"]["group"]


@pytest.mark.parametrize(
    ("items", "adjust", "expected"),
    [
        (["variance"], 0.25, (1.75, None)),
        (["variance", "softmax"], 1, (2.0, 1.0)),  # points above the question's maximum are extra credit
        (["vague"], 0, (0.0, None)),  # the minimum is 0
        (["vague"], 0.5, (0.5, None)),
        ([], 1, (1.0, None)),
    ],
)
def test_points_may_differ_from_the_rubric(desk, items, adjust, expected):
    grade(desk, WHY, "ada", items=items, adjust=adjust)
    assert in_nbgrader(desk, WHY, "ada")[:3] == (*expected, False)
    assert members(desk, WHY)["ada"]["points"] == sum(filter(None, expected))


def test_a_graded_answer_may_have_no_item(desk):
    grade(desk, WHY, "dan", items=[], graded=True)
    assert in_nbgrader(desk, WHY, "dan")[:3] == (0.0, None, False)
    grade(desk, WHY, "dan", items=[])
    assert in_nbgrader(desk, WHY, "dan")[:3] == (None, None, True)


def test_a_grade_from_the_formgrader_is_shown_and_kept(desk, course):
    with Course(course).gradebook() as formgrader:
        row = formgrader.find_grade(WHY, LESSON, LESSON, "ada")
        row.manual_score, row.needs_manual_grade = 1.25, False
        formgrader.find_comment(WHY, LESSON, LESSON, "ada").manual_comment = "From elsewhere."
        formgrader.db.commit()
    found = members(desk, WHY)["ada"]
    assert (found["points"], found["adjust"], found["elsewhere"]) == (1.25, 1.25, True)
    assert found["comment"] == "From elsewhere."
    grade(desk, WHY, "ada", items=["softmax"], adjust=0)
    assert in_nbgrader(desk, WHY, "ada") == (0.5, None, False, "From elsewhere.")


def test_a_change_in_the_formgrader_after_a_review_shows_as_an_adjustment(desk, course):
    grade(desk, WHY, "ada", items=["variance"])
    with Course(course).gradebook() as formgrader:
        formgrader.find_grade(WHY, LESSON, LESSON, "ada").manual_score = 1
        formgrader.db.commit()
    found = members(desk, WHY)["ada"]
    assert (found["points"], found["items"], found["adjust"]) == (1, ["variance"], -0.5)


def test_an_exercise_that_needs_a_person_shows_why_and_accepts_points_and_a_comment(desk):
    (found,) = members(desk, DOUBLE).values()
    assert TROUBLE in found["why"]
    grade(desk, DOUBLE, "cy", items=[], adjust=2, comment="I ran it by hand.")
    assert in_nbgrader(desk, DOUBLE, "cy", comment="double") == (2.0, None, False, "I ran it by hand.")


def test_another_answer_has_no_points_of_the_first(desk, course):
    grade(desk, WHY, "ada", items=["variance"])
    with Course(course).gradebook() as gradebook:
        add_answers(course, gradebook, "ada", {WHY: "Something else."})
    found = members(desk, WHY)["ada"]
    assert (found["points"], found["waiting"], found["items"]) == (None, True, [])
    assert desk.answer(key_of(WHY), found["id"])["text"] == "Something else."


def test_an_answer_without_points_cannot_be_accepted(desk):
    with pytest.raises(ReviewError, match="choose an item"):
        grade(desk, WHY, "ada", accept=True)
    assert in_nbgrader(desk, WHY, "ada")[:3] == (None, None, True)


def test_a_task_is_answered_by_the_cells_below_it(desk):
    found = members(desk, EXPLORE)
    assert desk.answer(key_of(EXPLORE), found["ada"]["id"])["text"] == "I tried three sizes."
    assert desk.answer(key_of(EXPLORE), found["ben"]["id"])["text"] == ""


def test_an_answer_changed_after_grading_is_not_shown(desk, course):
    file = course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb"
    file.write_text(file.read_text().replace(GREW, "Forged."))
    assert desk.answer(key_of(WHY), members(desk, WHY)["ada"]["id"])["missing"]


def test_names_are_hidden_unless_requested(desk):
    told = str(desk.question(key_of(WHY), names=False)) + str(desk.overview())
    assert not [student for student in ("ada", "Ada", "ben", "dan", "eve", "Doe") if f"'{student}" in told]


def test_the_late_penalty_follows_points_given_by_hand(course):
    add_config(course, "c.LatePolicy.policy = 'half'")
    due = datetime(2026, 11, 1, 12)  # noqa: DTZ001  # nbgrader's times are naive UTC
    with Course(course).gradebook() as gradebook:
        gradebook.find_assignment(LESSON).duedate = due
        gradebook.find_submission(LESSON, "ada").timestamp = due + timedelta(hours=6)
        gradebook.db.commit()
    desk = open_desk(course)
    grade(desk, WHY, "ada", items=["variance", "softmax"])
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        submitted = gradebook.find_submission_notebook(LESSON, LESSON, "ada")
        assert submitted.late_submission_penalty == 2.5  # half of 3 for the exercise and 2 by hand
        assert "6 hours after the due date" in reason_kept(gradebook, submitted.id)
    desk.gradebook.close()


def test_everything_can_be_undone_in_turn(desk):
    begun = members(desk, WHY)
    grade(desk, WHY, "ada", "ben", "cy", items=["variance"], comment="Yes.")
    grade(desk, WHY, "ada", items=["variance", "softmax"], adjust=0.5)
    desk.take_out("ann", "p", key_of(WHY), seen(desk, WHY, "cy"), True)
    desk.keep_comment("ann", "p", key_of(WHY), "Yes.", False)
    assert [desk.undo("ann", "p", None)["undone"] for _ in range(4)] == [
        "comment kept in the bank",
        "1 answer taken out of the group of equal answers",
        "1 answer graded",
        "3 answers graded",
    ]
    now = members(desk, WHY)
    assert [{**one, "by": "", "at": ""} for one in now.values()] == list(begun.values())
    assert in_nbgrader(desk, WHY, "ada") == (None, None, True, None)
    with pytest.raises(ReviewError, match="nothing to undo"):
        desk.undo("ann", "p", None)


@pytest.mark.full
def test_a_page_undoes_its_own_steps_unless_their_result_has_changed(desk):
    grade(desk, WHY, "ada", items=["variance"], page="one")
    grade(desk, WHY, "ada", items=["softmax"], page="two")
    with pytest.raises(Conflict):
        desk.undo("ann", "one", None)
    assert in_nbgrader(desk, WHY, "ada")[0] == 0.5
    desk.undo("ann", "two", None)
    desk.undo("ann", "one", None)
    assert in_nbgrader(desk, WHY, "ada")[0] is None


@pytest.mark.full
def test_a_request_to_look_again_is_shown_and_settled_by_a_grade(desk, course):
    grade(desk, WHY, "ada", items=["variance"])
    reopen(Course(course), "ada", LESSON, WHY, "asks about the second item")
    reopen(Course(course), "ada", LESSON, "double", "asks about double")
    found = members(desk, WHY)["ada"]
    assert (found["waiting"], found["points"]) == (True, 1.5)
    assert found["why"] == "To look at again: asks about the second item"
    grade(desk, WHY, "ada", items=["variance", "softmax"])
    assert members(desk, WHY)["ada"]["why"] == ""
    desk.overview()  # the exercise needs a person now
    assert members(desk, DOUBLE)["ada"]["auto"] == 3.0
    grade(desk, DOUBLE, "ada", accept=True)
    assert in_nbgrader(desk, DOUBLE, "ada", comment="double")[:3] == (None, None, False)
    assert Course(course).scores()["ada", LESSON] == (5.0, 11.0)


def test_the_feedback_shows_the_rubric_in_force_and_what_applies(desk, course):
    rows = [{"id": "variance", "text": "Names the variance", "points": 1}, {"id": "", "text": "Example", "points": 1}]
    stamp = desk.question(key_of(WHY), names=False)["rubric"]["stamp"]
    shown = desk.change_rubric("ann", "p", key_of(WHY), stamp, rows, False, None)
    desk.change_rubric("ann", "p", key_of(WHY), stamp, rows, False, shown["digest"])
    grade(desk, WHY, "ada", items=["variance"], comment="Good.")
    ids = {"db_url": f"sqlite:///{course}/gradebook.db", "assignment": LESSON, "notebook": LESSON, "student": "ada"}
    questions = with_edited_rubrics(course, LESSON, load_questions(course / "grader_tests" / LESSON))
    known = known_to_gradebook(ids, questions=questions)
    assert known.comments[WHY] == "Good."
    assert "- ✓ Names the variance (+1)\n- Example (+1)" in known.models[WHY]
    assert "Softmax saturates" not in known.models[WHY]


def test_the_marks_of_one_person_are_deleted_with_their_other_data(desk, course):
    grade(desk, WHY, "ada", "ben", items=["variance"], comment="Between us.")
    with Course(course).gradebook() as gradebook:
        delete_rows(gradebook, "ada")
    left = desk.gradebook.db.query(ChangeRow.notebook_id).union(desk.gradebook.db.query(MarkRow.notebook_id)).all()
    assert [row[0] for row in left] == [members(desk, WHY)["ben"]["id"]]
    desk.undo("ann", "p", None)  # only steps about other students are left
    assert in_nbgrader(desk, WHY, "ben")[0] is None
