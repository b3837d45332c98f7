"""A lesson with an exercise and one of each kind of cell that a person grades, and what students hand in for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook

from grading.authoring.build import build_lesson
from grading.coordinator.converters import generate_assignment
from grading.coordinator.demo_class import hand_in
from grading.course import Course
from grading.plugins.review.desk import ReviewDesk

from .course_builder import LessonFiles, build_course, released_notebook, solved_notebook, tiny_lesson

LESSON = "01_double"
QUESTION = """
points = 2
title = "Why twice?"
text = "Explain why twice is $2x$."
model_answer = "Because $x + x = 2x$."

[[rubric]]
id = "sum"
text = "Says that twice is a sum."
points = 2

[[rubric]]
id = "power"
text = "Confuses it with the square."
points = -1
"""
ANSWER, CODE, TASK, WHY = "essay", "plot", "survey", "why"  # a Markdown answer, a code answer, a task, a question
BY_HAND = (ANSWER, CODE, TASK, WHY)
MOST = {"check_double": 5, ANSWER: 3, CODE: 4, TASK: 1, WHY: 2}


def _marks(name: str, points: float, *, task: bool = False) -> str:
    marks = {"grade": not task, "solution": not task, "task": task, "locked": task, "schema_version": 3}
    return json.dumps({**marks, "grade_id": name, "points": points})


CELLS = f"""
# %% [markdown] nbgrader={_marks(ANSWER, 3)}
# A model essay.

# %% nbgrader={_marks(CODE, 4)}
### BEGIN SOLUTION
plot = 1
### END SOLUTION

# %% [markdown] nbgrader={_marks(TASK, 1, task=True)}
# Ask three people, and add a cell with what they said.

# %% [markdown]
# %%answer why
"""


def lesson_by_hand() -> LessonFiles:
    tiny = tiny_lesson(LESSON)
    return LessonFiles(LESSON, f"{tiny.source}{CELLS}", tiny.exercises)


def course_by_hand(root: Path, points: float | None = 2, config: str = "") -> Path:
    """A released course; points: those of the question `why`, None for an optional one."""
    build_course(root, [lesson_by_hand()], config=config)
    questions = root / "grader_tests" / LESSON / "questions"
    questions.mkdir()
    (questions / "why.toml").write_text(QUESTION, encoding="utf-8")
    if points is not None:
        give_points(root, points)
    build_lesson(root, LESSON)
    generate_assignment(Course(root), LESSON)
    return root


def notebook_by_hand(
    root: Path, *, essay: str = "My essay.", why: str = "It is a sum.", **answers: str
) -> nbformat.NotebookNode:
    """A right exercise and an answer to everything else; an empty text is no answer; `answers` replace code."""
    notebook = solved_notebook(root, LESSON, **answers)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name == ANSWER and essay:
            cell.source = essay
        elif name == CODE:
            cell.source = "plot = 3"
        elif name == WHY and why:
            cell.source = cell.source.replace("YOUR ANSWER HERE", why)
    return notebook


def hand_in_by_hand(root: Path, student: str, **answers: str) -> None:
    """Hand in `notebook_by_hand`."""
    hand_in(root, LESSON, student, notebook_by_hand(root, **answers))


def open_book(root: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{root}/gradebook.db", "attention")


def grade_by_hand(root: Path, student: str, points: dict[str, float], comment: str = "", **extra: float) -> None:
    """Give points as the formgrader does; `comment` goes to the essay, `extra` is extra credit by cell."""
    with open_book(root) as gradebook:
        for name, score in points.items():
            grade = gradebook.find_grade(name, LESSON, LESSON, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = score, extra.get(name), False
        if comment:
            gradebook.find_comment(ANSWER, LESSON, LESSON, student).manual_comment = comment
        gradebook.db.commit()


def review_by_hand(root: Path, student: str, cell: str, **wanted: Any) -> None:
    """Grade an answer as the review page does; `wanted` as in `ReviewDesk.grade`."""
    key = f"{LESSON}/{cell}"
    with open_book(root) as gradebook:
        desk = ReviewDesk(Course(root), LESSON, gradebook)
        groups = desk.question(key, names=True)["groups"]
        seen = {m["id"]: m["seen"] for group in groups for m in group["members"] if m["student"] == student}
        desk.grade("ann", "page", key, seen, wanted)


def open_cells(root: Path, student: str) -> set[str]:
    with open_book(root) as gradebook:
        grades = gradebook.find_submission_notebook(LESSON, LESSON, student).grades
        return {str(grade.name) for grade in grades if grade.needs_manual_grade}


def cell_of(root: Path, name: str) -> Any:
    """A cell of the released notebook, by its grade_id or id."""
    cells: list[nbformat.NotebookNode] = released_notebook(root, LESSON).cells
    return next(cell for cell in cells if cell.id == name or cell.metadata.get("nbgrader", {}).get("grade_id") == name)


def give_points(root: Path, points: float) -> None:
    """Have the course's course.toml give the written question points."""
    text = f'[[lesson]]\nname = "{LESSON}"\nexercises.{WHY}.points = {points:g}\n'
    (root / "course.toml").write_text(text, encoding="utf-8")
