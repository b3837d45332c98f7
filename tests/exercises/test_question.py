"""Questions in grader_tests: what is read, and what an author is told of a file that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.errors import ExerciseError
from grading.exercises.question import Question, RubricItem, load_questions

GOOD = '''
points = 2
title = "Why divide?"
text = """
Explain $\\\\sqrt{d}$.
"""
model_answer = "Because."

[[rubric]]
id = "variance"
text = "Names the variance."
points = 1.5

[[rubric]]
id = "softmax"
text = "Names softmax."
points = 0.5

[[rubric]]
id = "overflow"
text = "Claims overflow."
points = -1
'''


def load(folder: Path, text: str, name: str = "why") -> dict[str, Question]:
    path = folder / "01_small" / "questions" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_questions(folder / "01_small")


def test_a_question_is_read_whole(tmp_path):
    variance = RubricItem("variance", "Names the variance.", 1.5)
    rubric = (variance, RubricItem("softmax", "Names softmax.", 0.5), RubricItem("overflow", "Claims overflow.", -1.0))
    question = Question("why", "Why divide?", 2.0, r"Explain $\sqrt{d}$.", "Because.", rubric)
    assert load(tmp_path, GOOD) == {"why": question}
    assert [item.points for item in question.worth(4).rubric] == [3.0, 1.0, -2.0]
    assert question.worth(4).points == 4


def test_a_lesson_without_questions_has_none(tmp_path):
    assert load_questions(tmp_path) == {}


def test_questions_are_sorted_by_name(tmp_path):
    load(tmp_path, GOOD, "why")
    assert list(load(tmp_path, GOOD, "how")) == ["how", "why"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("title =", "tittle =", "unknown key 'tittle' (did you mean 'title'?); 'title' is missing: expected a text"),
        ("model_answer =", "modelanswer =", "unknown key 'modelanswer' (did you mean 'model_answer'?)"),
        ('id = "softmax"', 'id = "variance"', "2 rubric items have the id 'variance': give each its own"),
        ("points = 1.5", "points = 1", "the positive points of the rubric sum to 1.5, but points is 2"),
        ("points = 2", "points = 0", "points: expected a number greater than 0, got 0"),
        ("points = 2", 'points = "2"', "'points': expected a number, got '2'"),
        ("points = 2", "points = true", "'points': expected a number, got True"),
        ("points = -1", "point = -1", "rubric item 3: unknown key 'point' (did you mean 'points'?)"),
        ('text = "Claims overflow."', 'text = " "', "rubric item 3: 'text' is missing: expected a text"),
        ("[[rubric]]", "[[rubrics]]", "unknown key 'rubrics' (did you mean 'rubric'?)"),
        ('"Because."', '"Because.', "(at line"),
    ],
)
def test_an_unreadable_file_is_named_with_its_fault(tmp_path, old, new, problem):
    with pytest.raises(ExerciseError) as raised:
        load(tmp_path, GOOD.replace(old, new))
    assert str(raised.value).startswith("01_small/questions/why.toml: ")
    assert problem in str(raised.value)


def test_all_problems_of_a_file_are_named_at_once(tmp_path):
    with pytest.raises(ExerciseError, match=r"'tittle'.*'title'.*rubric item 1: 'id' is missing"):
        load(tmp_path, GOOD.replace("title", "tittle").replace('id = "variance"\n', ""))


def test_a_name_that_cannot_be_a_grade_id_is_refused(tmp_path):
    with pytest.raises(ExerciseError, match="'why so' is not a valid name"):
        load(tmp_path, GOOD, "why so")
