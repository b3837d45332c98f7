"""The answers that `solution(…)` shows, chosen and commented by the author.

grader_tests/NN_lesson/solutions.toml names them: `solution`, the lesson's own, and titles of alternatives, each with
its advantage and its cost. For an exercise that the file does not list, only the lesson's own solution is shown, and
for a challenge its first alternative. This project's open release has the resulting files, from solutions/. A course
that `student_repo` publishes has them if it asks for them.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

from course.notebook.catalog import SOLUTIONS

from ..errors import CourseError
from ..exercises.exercise import Exercise
from ..exercises.lesson import load_lesson
from ..notebooks.cells import grade_id
from .lesson_text import read_lesson

FILE = "solutions.toml"
LESSON_SOLUTION = "solution"
MARKS = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[^\n]*\n?", re.MULTILINE)


def solutions_of(root: Path, name: str) -> dict[str, bytes]:
    """Map the name of a lesson's solutions file to its content.

    Raises CourseError for an unknown answer.
    """
    lesson = load_lesson(root / "grader_tests" / name)
    exercises = lesson.exercises
    chosen, own = _load_choices(root / "grader_tests" / name / FILE), _lesson_solutions(root / "source" / f"{name}.py")
    if unknown := sorted(chosen.keys() - exercises.keys()):
        raise CourseError(f"grader_tests/{name}/{FILE}: the lesson has no exercise {', '.join(unknown)}")
    answers = {
        exercise.name: [
            {"code": _code(exercise, title, own[exercise.name], f"grader_tests/{name}/{FILE}"), "comment": comment}
            for title, comment in chosen.get(exercise.name, {LESSON_SOLUTION: ""}).items()
        ]
        for exercise in exercises.values()
    }
    answers |= {one.name: [{"code": one.alternatives[0].cell, "comment": ""}] for one in lesson.challenges.values()}
    return {f"{name}{SOLUTIONS}": (json.dumps(answers, ensure_ascii=False, indent=1) + "\n").encode()}


def _load_choices(path: Path) -> dict[str, dict[str, str]]:
    """Map each exercise to the titles of its answers and the author's comments."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path.parent.name}/{path.name}: {error}") from None


def _lesson_solutions(text: Path) -> dict[str, str]:
    """The lesson's own solutions, without markers and docstrings."""
    cells = [cell for cell in read_lesson(text).cells if cell.metadata.get("nbgrader", {}).get("solution")]
    return {grade_id(cell): _without_docstrings(MARKS.sub("", cell.source)).strip() for cell in cells}


def _without_docstrings(code: str) -> str:
    docstring_lines = set[int]()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            docstring = node.body[0]
            docstring_lines |= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    kept = "\n".join(line for number, line in enumerate(code.splitlines(), 1) if number not in docstring_lines)
    return re.sub(r":\n\n+(?=[ \t])", ":\n", kept)


def _code(exercise: Exercise, title: str, own: str, where: str) -> str:
    if title == LESSON_SOLUTION:
        return own
    try:
        return exercise.alternative(title).cell
    except LookupError as error:
        raise CourseError(f"{where}: {error}") from None
