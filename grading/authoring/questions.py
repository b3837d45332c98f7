"""Insert a lesson's written questions into its notebook, and export their answers.

In a lesson's text, a Markdown cell with only `%%answer NAME` marks the position of the question in
grader_tests/NN_lesson/questions/NAME.toml (docs/contracts/README.md). The build replaces it by two cells: the question,
and a code cell for the answer. If the course gives the question points, the code cell is one of nbgrader's manually
graded answer cells; otherwise nbgrader does not mark it. Learners compare their answers with the exported rubrics and
model answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from ..course_dir.lesson_change import LessonChange
from ..errors import BuildError
from ..exercises.question import FOLDER, Question, load_questions
from ..notebooks.written_answers import STUB

PLACE = re.compile(r"\s*%%answer[ \t]+(\S+)\s*")
OPTIONAL = "*In your own words · optional.* Write your answer in the next cell, then run the cell to compare."
GRADED = "*In your own words · {points}, given by a person.* Write your answer in the next cell."


def graded_questions(tests: Path, change: LessonChange) -> dict[str, float]:
    """The questions of a lesson that have points in a course, and their points."""
    return {name: float(points) for name, points in change.points.items() if name in load_questions(tests)}


def insert_questions(notebook: NotebookNode, tests: Path, change: LessonChange) -> None:
    """Insert each question above its answer cell, and mark the graded ones.

    tests   grader_tests/NN_lesson
    change  the course's changes: points of questions, and questions left out

    Raises BuildError if text, questions and points do not agree, and ExerciseError for an unreadable question.
    """
    questions, graded = load_questions(tests), graded_questions(tests, change)
    _check(notebook, questions, tests.name)
    cells = list[NotebookNode]()
    for cell in notebook.cells:
        name = _place_of(cell)
        if name not in change.left_out:
            cells += _question_cells(questions[name], graded.get(name)) if name else [cell]
    notebook.cells = cells


def _question_cells(question: Question, points: float | None) -> list[NotebookNode]:
    """The question's cell and its answer cell.

    `points`: None for an optional question.
    """
    name, line = question.name, f"%%answer {question.name}"
    metadata: dict[str, Any] = {"tags": ["exercise"]}
    about = OPTIONAL if points is None else GRADED.format(points=_points(points))
    if points is not None:
        line += f" ({_points(points)})"
        marks = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3}
        metadata["nbgrader"] = {**marks, "grade_id": name, "points": points}
    text = f"### {question.title}\n\n{about}\n\n{question.text}"
    answer = new_code_cell(f"{line}\n{STUB}", id=name, metadata=metadata)
    return [new_markdown_cell(text, id=f"question-{name}", metadata={"tags": ["text"]}), answer]


def _place_of(cell: NotebookNode) -> str:
    """The name of the question that a text cell marks the position of; "" for none."""
    found = PLACE.fullmatch(cell.source)
    return found[1] if found else ""


def question_data(tests: Path, change: LessonChange) -> bytes:
    """The rubrics and model answers of questions without points.

    This is the content of the file beside the notebook; b"" if there are none.
    """
    kept_back = {*graded_questions(tests, change), *change.left_out}
    shown = {
        question.name: {
            "title": question.title,
            "model_answer": question.model_answer,
            "rubric": [{"text": item.text, "points": item.points} for item in question.rubric],
        }
        for question in load_questions(tests).values()
        if question.name not in kept_back
    }
    return (json.dumps(shown, ensure_ascii=False, indent=1) + "\n").encode() if shown else b""


def _check(notebook: NotebookNode, questions: Mapping[str, Question], lesson: str) -> None:
    """Raise BuildError unless positions and questions match one to one."""
    places = Counter(name for cell in notebook.cells if (name := _place_of(cell)))
    for name in places:
        if name not in questions:
            where = f"{lesson}.py: `%%answer {name}`"
            raise BuildError(f"{where}: the lesson has no question with this name{_nearest(name, questions)}")
    for name in questions:
        if places[name] != 1:
            raise BuildError(
                f"{lesson}.py: expected one Markdown cell `%%answer {name}` for the question "
                f"grader_tests/{lesson}/{FOLDER}/{name}.toml, got {places[name]}"
            )
    for cell in notebook.cells:
        if _place_of(cell) and cell.cell_type != "markdown":
            raise BuildError(f"{lesson}.py: `{cell.source.strip()}` is a code cell: make it a Markdown cell")


def _nearest(name: str, questions: Mapping[str, Question]) -> str:
    near = get_close_matches(name, questions, n=1)
    return f" (did you mean {near[0]}?)" if near else f" (questions: {', '.join(questions) or 'none'})"


def _points(points: float) -> str:
    return f"{points:g} point{'s' * (points != 1)}"
