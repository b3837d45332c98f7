"""Written questions: their cells, the file beside the notebook, and build errors."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from course.notebook import written_answer
from grading.authoring.build import build_lesson, notebook_of
from grading.authoring.questions import question_data
from grading.course_dir.lesson_change import LessonChange
from grading.errors import BuildError
from grading.exercises.question import load_questions
from grading.notebooks import written_answers

from ..support.by_hand_lesson import LESSON, QUESTION, WHY, cell_of, course_by_hand, give_points, lesson_by_hand
from ..support.course_builder import build_course, released_notebook
from ..support.repository import LESSONS, ROOT

QUESTIONS = {
    "04_scaling": ["why_the_root"],
    "05_causal_mask": ["what_a_mask_hides"],
    "06_multi_head": ["what_a_head_does"],
    "09_cache": ["what_a_cache_costs"],
    "13_cheaper_attention": ["what_may_be_dropped"],
    "14_tokens_and_choices": ["what_a_tokenizer_decides"],
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The lesson with a question, before the build."""
    root = build_course(tmp_path / "course", [lesson_by_hand()])
    (root / "grader_tests" / LESSON / "questions").mkdir()
    (root / "grader_tests" / LESSON / "questions" / "why.toml").write_text(QUESTION, encoding="utf-8")
    return root


def built(root: Path) -> list[nbformat.NotebookNode]:
    cells: list[nbformat.NotebookNode] = nbformat.read(root / "source" / LESSON / f"{LESSON}.ipynb", as_version=4).cells
    return cells


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_courses_questions_are_optional_and_their_data_matches_their_files(lesson):
    tests, shipped = ROOT / "grader_tests" / lesson, ROOT / "course" / "examples" / f"{lesson}.questions"
    assert list(load_questions(tests)) == QUESTIONS.get(lesson, [])
    assert question_data(tests, LessonChange()) == (shipped.read_bytes() if shipped.exists() else b"")
    cells = {cell.id: cell for cell in released_notebook(ROOT, lesson).cells}
    for name, question in load_questions(tests).items():
        assert question.text in cells[f"question-{name}"].source
        assert cells[name].source == f"%%answer {name}\nYOUR ANSWER HERE"
        assert cells[name].metadata == {"tags": ["exercise"]}
        assert 3 <= sum(item.points > 0 for item in question.rubric) <= 4
    graded = [cell.metadata.get("nbgrader", {}).get("points", 0) for cell in cells.values()]
    assert sum(graded) == 20


def test_an_optional_question_is_not_marked_and_its_data_comes_with_the_notebook(tmp_path):
    root = course_by_hand(tmp_path / "course", points=None)
    assert cell_of(root, WHY).source == "%%answer why\nYOUR ANSWER HERE"
    assert "nbgrader" not in cell_of(root, WHY).metadata
    data = json.loads((root / "release" / LESSON / f"{LESSON}.questions").read_text(encoding="utf-8"))
    assert data[WHY]["model_answer"] == "Because $x + x = 2x$."


def test_a_question_with_points_is_a_graded_cell_and_its_model_answer_stays_in_the_course(tmp_path):
    root = course_by_hand(tmp_path / "course", points=3)
    marks = cell_of(root, WHY).metadata.nbgrader
    assert (marks.grade, marks.solution, marks.locked, marks.points) == (True, True, False, 3)
    assert "*In your own words · 3 points, given by a person.*" in cell_of(root, "question-why").source
    assert not list((root / "release" / LESSON).glob("*.questions"))
    assert not any("x + x" in path.read_text(encoding="utf-8") for path in (root / "release").rglob("*.ipynb"))


@pytest.mark.full
def test_a_question_that_gets_points_loses_the_file_beside_its_notebook(course):
    assert build_lesson(course, LESSON)
    beside = course / "source" / LESSON / f"{LESSON}.questions"
    assert beside.is_file()
    give_points(course, 1)
    assert build_lesson(course, LESSON)
    assert not beside.exists()
    assert not build_lesson(course, LESSON)


def test_the_notebook_knows_an_empty_answer_as_the_build_writes_it():
    assert written_answer.STUB == written_answers.STUB


def test_building_twice_gives_the_same_bytes(course):
    assert notebook_of(course, LESSON) == notebook_of(course, LESSON)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("%%answer why", "%%answer wy", "`%%answer wy`: the lesson has no question with this name (did you mean why?)"),
        ("%%answer why", "Nothing.", "got 0"),
        ("[markdown]\n# %%answer", "\n# %%answer", "`%%answer why` is a code cell: make it a Markdown cell"),
    ],
)
def test_a_lessons_text_and_questions_must_agree(course, old, new, problem):
    text = course / "source" / f"{LESSON}.py"
    head, tail = text.read_text(encoding="utf-8").rsplit(old, 1)
    text.write_text(f"{head}{new}{tail}", encoding="utf-8")
    with pytest.raises(BuildError) as raised:
        build_lesson(course, LESSON)
    assert problem in str(raised.value)
