"""A course with answers that a person grades, graded by the gradebook's own functions but without judges (see
`grading.plugins.review`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties

from grading.coordinator.converters import generate_assignment
from grading.course import Course
from grading.gradebook.store import save
from grading.grader.verdict import ExerciseVerdict, needs_a_person
from grading.notebooks.verdict_cell import write_verdict
from grading.plugins.review.desk import ReviewDesk

from .course_builder import build_course

LESSON = "01_essay"
WHY, ESSAY, SKETCH, EXPLORE, DOUBLE = "why_scale", "essay", "sketch", "explore", "check_double"
STUB = "YOUR ANSWER HERE"
LINE = f"%%answer {WHY} (2 points)"
TROUBLE = "the kernel died before the exercise was reached"
CONTRACT = '''
title = "Why scale?"
points = 2
text = """
Why are scores divided by $\\\\sqrt{d}$?
"""
model_answer = """
The variance of a dot product grows with $d$.
"""
[[rubric]]
id = "variance"
text = "The variance grows with the dimension"
points = 1.5
[[rubric]]
id = "softmax"
text = "Softmax saturates"
points = 0.5
[[rubric]]
id = "vague"
text = "Nothing is explained"
points = -0.5
'''


def _marks(name: str, *, grade: bool = False, solution: bool = False, task: bool = False, points: float = 0) -> Any:
    marks = {"grade": grade, "grade_id": name, "locked": grade != solution or task, "schema_version": 3}
    marks |= {"solution": solution, "task": task, **({"points": points} if grade or task else {})}
    return {"nbgrader": marks}


def lesson_notebook() -> Any:
    cells = [
        new_markdown_cell("# An essay"),
        new_markdown_cell("## Scaling"),
        new_code_cell(LINE, metadata=_marks(WHY, grade=True, solution=True, points=2)),
        new_markdown_cell("## Masks\n\nWhat must a mask not let through?"),
        new_markdown_cell(STUB, metadata=_marks(ESSAY, grade=True, solution=True, points=3)),
        new_code_cell("# your sketch", metadata=_marks(SKETCH, grade=True, solution=True, points=1)),
        new_markdown_cell("Explore *something* below.", metadata=_marks(EXPLORE, task=True, points=2)),
        new_markdown_cell("## A function"),
        new_code_cell("def double(x):\n    pass", metadata=_marks("double", solution=True)),
        new_code_cell("assert double(2) == 4", metadata=_marks(DOUBLE, grade=True, points=3)),
    ]
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": spec})


def make_review_course(root: Path, answers: Mapping[str, Mapping[str, str]], *, config: str = "") -> Path:
    """A course in which the lesson is released and graded. answers: student -> cell -> text.

    An answer to DOUBLE of "" is an exercise that needs a person.
    """
    build_course(root, [], config=config)
    (root / "source" / LESSON).mkdir(parents=True)
    nbformat.write(lesson_notebook(), root / "source" / LESSON / f"{LESSON}.ipynb")
    questions = root / "grader_tests" / LESSON / "questions"
    questions.mkdir(parents=True)
    (questions / f"{WHY}.toml").write_text(CONTRACT)
    generate_assignment(Course(root), LESSON)
    with Course(root).gradebook() as gradebook:
        for student, texts in answers.items():
            add_answers(root, gradebook, student, texts)
    return root


def add_answers(root: Path, gradebook: Gradebook, student: str, texts: Mapping[str, str]) -> None:
    """Grade a submission with these answers, as a converter does with a judge's notebook."""
    notebook = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    for index, cell in reversed(list(enumerate(notebook.cells))):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name == EXPLORE and name in texts:
            notebook.cells.insert(index + 1, new_markdown_cell(texts[name], id="explored"))
        elif name == DOUBLE:
            right = ExerciseVerdict("double", 3.0, 3.0, "right")
            write_verdict(cell, needs_a_person("double", 3.0, TROUBLE) if texts.get(name) == "" else right)
        elif name in texts:
            written = texts[name] != STUB
            cell.source = (
                f"{LINE}\n{texts[name]}" if name == WHY and written else texts[name] if written else cell.source
            )
    folder = root / "autograded" / student / LESSON
    folder.mkdir(parents=True, exist_ok=True)
    text = nbformat.writes(notebook)
    (folder / f"{LESSON}.ipynb").write_text(text, encoding="utf-8")
    gradebook.update_or_create_student(student, first_name=student.title(), last_name="Doe")
    gradebook.update_or_create_submission(LESSON, student)
    ids = {"assignment": LESSON, "student": student, "notebook": LESSON}
    save(gradebook, ids, notebook, text, {"submission": text}, AssignLatePenalties(config=Course(root).config))


def open_desk(root: Path) -> ReviewDesk:
    """A desk with a gradebook of its own, as another process has."""
    course = Course(root)
    return ReviewDesk(course, LESSON, course.gradebook())
