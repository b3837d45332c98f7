"""A changed rubric changes its grades once they were shown; the course keeps it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grading.errors import Conflict, RubricError
from grading.exercises.rubric import Rubric, file_of, load_rubric
from grading.plugins.review.rubric_changes import from_page

from ...support.review_course import ESSAY, LESSON, WHY
from .reading import grade, in_nbgrader, key_of, members

ITEMS = [
    {"id": "variance", "text": "The variance grows with the dimension", "points": 1.5},
    {"id": "softmax", "text": "Softmax saturates", "points": 0.5},
    {"id": "vague", "text": "Nothing is explained", "points": -0.5},
]
CHEAPER = [{**ITEMS[0], "points": 1.0}, *ITEMS[1:]]


def stamp(desk, cell=WHY):
    return desk.question(key_of(cell), names=False)["rubric"]["stamp"]


def change(desk, items, *, cell=WHY, from_full=False, by="ann", page="p"):
    """Show the changes, then apply them, as the page does."""
    shown = desk.change_rubric(by, page, key_of(cell), stamp(desk, cell), items, from_full, None)
    assert not shown["applied"]
    applied = desk.change_rubric(by, page, key_of(cell), stamp(desk, cell), items, from_full, shown["digest"])
    assert applied["applied"]
    return shown["changes"]


def points(desk, *students, cell=WHY):
    return [in_nbgrader(desk, cell, student)[0] for student in students]


def test_new_points_of_an_item_apply_to_all_its_answers_once_shown(desk):
    grade(desk, WHY, "ada", "ben", items=["variance"])
    grade(desk, WHY, "cy", items=["variance"], adjust=0.25)
    grade(desk, WHY, "dan", items=["vague"])
    shown = desk.change_rubric("ann", "p", key_of(WHY), stamp(desk), CHEAPER, False, None)
    assert shown["changes"] == [{"from": 1.5, "to": 1.0, "answers": 2}, {"from": 1.75, "to": 1.25, "answers": 1}]
    assert points(desk, "ada", "ben", "cy", "dan") == [1.5, 1.5, 1.75, 0.0]
    change(desk, CHEAPER)
    assert points(desk, "ada", "ben", "cy", "dan") == [1.0, 1.0, 1.25, 0.0]
    assert members(desk, WHY)["cy"]["adjust"] == 0.25


@pytest.mark.full
def test_a_deleted_item_is_removed_and_answers_without_another_wait_again(desk):
    grade(desk, WHY, "ada", items=["variance", "softmax"])
    grade(desk, WHY, "dan", items=["variance"])
    change(desk, ITEMS[1:])
    assert in_nbgrader(desk, WHY, "ada")[:3] == (0.5, None, False)
    assert in_nbgrader(desk, WHY, "dan")[:3] == (None, None, True)


def test_a_new_item_or_another_text_changes_no_points(desk, course):
    grade(desk, WHY, "ada", items=["variance"])
    assert change(desk, [*ITEMS, {"id": None, "text": " A *picture* ", "points": 1}]) == []
    assert points(desk, "ada") == [1.5]
    new = desk.question(key_of(WHY), names=False)["rubric"]["items"][-1]
    assert (new["id"], new["text"]) == ("item-1", "A *picture*")
    grade(desk, WHY, "ada", items=["item-1"])
    assert points(desk, "ada") == [1.0]
    assert '"A *picture*"' in file_of(course, LESSON, WHY).read_text()


def test_an_answer_may_start_with_all_points(desk):
    grade(desk, WHY, "ada", items=["vague"])
    change(desk, ITEMS, from_full=True)
    assert points(desk, "ada") == [1.5]


def test_a_question_without_a_rubric_gets_one_on_the_page(desk, open_another):
    change(desk, [{"id": None, "text": "Names the future", "points": 3}], cell=ESSAY)
    (item,) = open_another().question(key_of(ESSAY), names=False)["rubric"]["items"]
    grade(desk, ESSAY, "ada", items=[item["id"]])
    assert points(desk, "ada", cell=ESSAY) == [3.0]


def test_undo_restores_rubric_and_points(desk, course):
    grade(desk, WHY, "ada", items=["variance"])
    before = stamp(desk)
    change(desk, CHEAPER)
    desk.undo("ann", "p", None)
    assert stamp(desk) == before
    assert points(desk, "ada") == [1.5]
    assert not file_of(course, LESSON, WHY).exists()  # the question's own rubric is used again


def test_two_people_do_not_change_a_rubric_unseen(desk, open_another):
    bob, shown = open_another(), stamp(desk)
    change(bob, CHEAPER, by="bob", page="b")
    with pytest.raises(Conflict, match="rubric"):
        desk.change_rubric("ann", "p", key_of(WHY), shown, ITEMS[1:], False, None)


def test_only_the_changes_that_were_shown_are_applied(desk, open_another):
    shown = desk.change_rubric("ann", "p", key_of(WHY), stamp(desk), CHEAPER, False, None)
    grade(open_another(), WHY, "ada", items=["variance"], by="bob", page="b")
    with pytest.raises(Conflict, match="once more"):
        desk.change_rubric("ann", "p", key_of(WHY), stamp(desk), CHEAPER, False, shown["digest"])
    assert points(desk, "ada") == [1.5]


def test_a_rubric_edited_in_its_file_is_noticed_and_brought_up_to_date_on_demand(desk, course):
    change(desk, ITEMS)
    grade(desk, WHY, "ada", "ben", items=["variance"])
    file = file_of(course, LESSON, WHY)
    file.write_text(file.read_text().replace("points = 1.5", "points = 1.25"))
    assert desk.question(key_of(WHY), names=False)["outdated"] == 2
    assert points(desk, "ada") == [1.5]
    desk.bring_up_to_date("ann", "p", key_of(WHY))
    assert points(desk, "ada", "ben") == [1.25, 1.25]
    assert desk.question(key_of(WHY), names=False)["outdated"] == 0


def test_points_from_the_formgrader_without_an_item_stay(desk):
    grade(desk, WHY, "ada", items=[], adjust=1.25)
    with desk.gradebook.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE grade SET manual_score = 0.75 WHERE manual_score = 1.25")
    assert change(desk, ITEMS, from_full=True) == []
    assert points(desk, "ada") == [0.75]


def test_a_rubric_is_scaled_to_the_courses_points(tmp_path):
    file = tmp_path / "why.toml"
    file.write_text(Rubric(2.0, from_page(ITEMS, 2.0, False, ()).items).to_file())
    assert [item.points for item in load_rubric(file, 4.0, None).items] == [3.0, 1.0, -1.0]


@pytest.mark.parametrize("points", [1, 4, 7, 10])
@pytest.mark.parametrize("number", [3, 7, 49])
def test_items_are_added_before_they_are_rounded(tmp_path, points, number):
    file, rows = tmp_path / "why.toml", [{"id": "", "text": "One", "points": 1} for _ in range(number)]
    file.write_text(Rubric(float(number), from_page(rows, number, False, ()).items).to_file())
    rubric = load_rubric(file, points, None)
    ids = [item.id for item in rubric.items]
    assert rubric.earned(ids) == pytest.approx(points, abs=1e-12)
    minus = Rubric(float(points), tuple(replace(item, points=-item.points) for item in rubric.items), from_full=True)
    assert minus.earned(ids) == pytest.approx(0, abs=1e-12) and minus.earned([]) == points
    assert sum(rubric.earned([name]) for name in ids) == pytest.approx(points, abs=1e-12)  # of several answers


def test_points_by_an_earlier_rounding_are_offered_to_be_computed_again(desk, open_another):
    thirds = [{"id": "", "text": text, "points": 2 / 3} for text in "abc"]
    change(desk, thirds)
    ids = [item["id"] for item in desk.question(key_of(WHY), names=False)["rubric"]["items"]]
    grade(desk, WHY, "ada", items=ids)
    assert points(desk, "ada") == [pytest.approx(2, abs=1e-12)]
    assert not members(desk, WHY)["ada"]["outdated"] and not members(desk, WHY)["ada"]["elsewhere"]
    with desk.gradebook.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE grade SET manual_score = 1.9999 WHERE manual_score > 1.99")
        connection.exec_driver_sql("UPDATE attention_review SET points = 1.9999")
    assert members(open_another(), WHY)["ada"]["outdated"]
    desk.bring_up_to_date("ann", "p", key_of(WHY))
    assert points(desk, "ada") == [pytest.approx(2, abs=1e-12)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("points = ", "Correct the file"),
        ("[[rubric]]\nid = 'a'\ntext = 'b'\npoints = 1", "'points' is missing"),
        ("points = 1\n[[rubric]]\nid = 'a'\ntext = ''\npoints = 1", "no text"),
        ("points = 1\n[[rubric]]\nid = 'a'\ntext = 'b'\npoints = nan", "not a valid number"),
        ("points = 1\nrubric = 3", "Correct the file"),
    ],
)
def test_an_invalid_rubric_file_is_named_with_the_remedy(tmp_path, text, said):
    (tmp_path / "why.toml").write_text(text)
    with pytest.raises(RubricError, match=said) as refused:
        load_rubric(tmp_path / "why.toml", 1.0, None)
    assert "why.toml" in str(refused.value)


def test_ids_of_deleted_items_are_not_used_again(desk):
    change(desk, [{"id": None, "text": "One", "points": 1}, {"id": None, "text": "Two", "points": 1}], cell=ESSAY)
    grade(desk, ESSAY, "ada", items=["item-2"])
    change(desk, [{"id": "item-1", "text": "One", "points": 1}], cell=ESSAY)
    change(desk, [{"id": "item-1", "text": "One", "points": 1}, {"id": None, "text": "Three", "points": 2}], cell=ESSAY)
    assert in_nbgrader(desk, ESSAY, "ada")[:3] == (None, None, True)
