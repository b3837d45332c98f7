"""Places the written questions of a lesson in its notebook, and exports what learners compare their answers with.

In a lesson's text a Markdown cell with nothing but `%%answer NAME` is the place of the question in
grader_tests/NN_lesson/questions/NAME.toml (docs/contracts/README.md). The build makes two cells of it: the question,
and a code cell for the answer. Without points in the course that cell has no mark of nbgrader's; with points it is one
of nbgrader's manually graded answer cells.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.notebook import catalog

from ..errors import BuildError
from ..exercises.question import FOLDER, Question, load_questions

PLACE = re.compile(r"\s*%%answer[ \t]+(\S+)\s*")
OPTIONAL = "*In your own words · optional, without points.* Write below the first line of the next cell, then run it to compare."
GRADED = "*In your own words · {points}, given by a person.* Write below the first line of the next cell."


def graded_questions(root: Path, name: str) -> Mapping[str, float]:
    """The questions of a lesson that have points in this course, and their points."""
    return {}


def insert_questions(notebook: NotebookNode, tests: Path, graded: Mapping[str, float]) -> None:
    """Put each question above its answer cell, and mark the cells of questions with points.

    tests   grader_tests/NN_lesson
    graded  question -> its points in this course

    Raises BuildError where text, questions and points do not agree, and ExerciseError for an unreadable question.
    """
    questions = load_questions(tests)
    _check(notebook, questions, tests.name, graded)
    cells = list[NotebookNode]()
    for cell in notebook.cells:
        name = _place_of(cell)
        cells += _question_cells(questions[name], graded.get(name)) if name else [cell]
    notebook.cells = cells


def _question_cells(question: Question, points: float | None) -> list[NotebookNode]:
    """The question, and the cell for its answer; points: None for an optional question."""
    name, line, metadata = question.name, f"%%answer {question.name}", {}
    about = OPTIONAL if points is None else GRADED.format(points=_points(points))
    if points is not None:
        line += f" ({_points(points)})"
        marks = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3}
        metadata["nbgrader"] = {**marks, "grade_id": name, "points": points}
    text = f"### {question.title}\n\n{about}\n\n{question.text}"
    return [new_markdown_cell(text, id=f"question-{name}"), new_code_cell(line, id=name, metadata=metadata)]


def _place_of(cell: NotebookNode) -> str:
    """The name of the question that a cell of a lesson's text is the place of; "" for none."""
    found = PLACE.fullmatch(cell.source)
    return found[1] if found else ""


def question_data(tests: Path, graded: Mapping[str, float]) -> bytes:
    """The questions without points, with rubric and model answer, as the notebook shows them; b"" if there are none."""
    shown = {
        question.name: {
            "title": question.title,
            "model_answer": question.model_answer,
            "rubric": [{"text": item.text, "points": item.points} for item in question.rubric],
        }
        for question in load_questions(tests).values()
        if question.name not in graded
    }
    return (json.dumps(shown, ensure_ascii=False, indent=1) + "\n").encode() if shown else b""


def question_file(root: Path, name: str, folder: Path | None, data: bytes) -> Path | None:
    """The file for a lesson's question data; None if the package that is installed has the same.

    folder  where the lesson's check data is written, if it is
    """
    file = f"{name}{catalog.QUESTIONS}"
    if folder is not None:
        return folder / file
    shipped = catalog.EXAMPLES / file
    same = data == (shipped.read_bytes() if shipped.is_file() else b"")
    return None if same else root / "source" / name / file


def _check(notebook: NotebookNode, questions: Mapping[str, Question], lesson: str, graded: Mapping[str, float]) -> None:
    """Raise BuildError unless every question has one place, every place a question, and points are of questions."""
    places = Counter(name for cell in notebook.cells if (name := _place_of(cell)))
    for name in [*places, *graded]:
        if name not in questions:
            where = f"{lesson}.py: `%%answer {name}`" if name in places else f"{lesson}: points for {name!r}"
            raise BuildError(f"{where}: the lesson has no question of this name{_nearest(name, questions)}")
    for name in questions:
        if places[name] != 1:
            raise BuildError(
                f"{lesson}.py: the question grader_tests/{lesson}/{FOLDER}/{name}.toml needs one Markdown cell "
                f"`%%answer {name}`; there are {places[name]}"
            )
    for cell in notebook.cells:
        if _place_of(cell) and cell.cell_type != "markdown":
            raise BuildError(f"{lesson}.py: `{cell.source.strip()}` is a code cell: make it a Markdown cell")
    for name, points in graded.items():
        if not points > 0:
            raise BuildError(
                f"{lesson}: the question {name} has {points:g} points: give it more than 0, or none at all"
            )


def _nearest(name: str, questions: Mapping[str, Question]) -> str:
    near = get_close_matches(name, questions, n=1)
    return f" (did you mean {near[0]}?)" if near else f" (questions: {', '.join(questions) or 'none'})"


def _points(points: float) -> str:
    return f"{points:g} point{'s' * (points != 1)}"
