"""Build notebooks from the lessons' texts, with the check data that `check` reads.

    source/NN_lesson.py      -> source/NN_lesson/NN_lesson.ipynb   (for nbgrader generate_assignment)
    grader_tests/NN_lesson/  -> course/examples/NN_lesson.examples, NN_lesson/<exercise>.practice
    source/bug_museum.py     -> release/bug_museum/bug_museum.ipynb  (not an assignment: nbgrader has no part in it)

Outside a checkout, the installed package has the examples of its own lessons. Examples of other lessons are next to the
notebook, and nbgrader releases them with it.

The same input gives the same bytes: cell ids come from the cells' positions, and nothing depends on the clock or the
machine.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..course_dir.course_file import load_course_file
from ..course_dir.lessons import MUSEUM
from ..errors import BuildError
from ..exercises.lesson import Lesson, load_lesson
from ..grader.cell_code import defines
from ..notebooks.cells import check_call, check_of, grade_id
from .adapt_notebook import adapt_notebook
from .beside_notebook import write_beside
from .check_data_files import export, write
from .effort import check_ratings, state_effort
from .lesson_text import HEADING, read_lesson
from .predictions import check_predictions
from .questions import insert_questions
from .student_install import delivery, insert_setup_cell, origin
from .text_rules import check_kinds, check_lines, check_names


def build_lesson(root: Path, name: str) -> bool:
    """Build one assignment; returns whether anything changed. Raises BuildError."""
    text = root / "source" / f"{name}.py"
    tests = root / "grader_tests" / name
    check_lesson(read_lesson(text), text, load_lesson(tests))
    check_predictions(read_lesson(text), tests)
    changed = write(root / "source" / name / f"{name}.ipynb", notebook_of(root, name))
    if (root / "course").is_dir():
        changed = export(tests, root / "course" / "examples") or changed
    return write_beside(root, name) or changed


def build_museum(root: Path) -> bool:
    """Write the notebook without points to release/, if the course has its text; returns whether anything changed.

    Raises BuildError.
    """
    text = root / "source" / f"{MUSEUM}.py"
    if not text.exists():
        return False
    notebook = read_lesson(text)
    check_kinds(notebook, text)
    check_lines(notebook, text)
    return write(root / "release" / MUSEUM / f"{MUSEUM}.ipynb", notebook_of(root, MUSEUM))


def notebook_of(root: Path, name: str) -> bytes:
    """The file of a notebook as it would be built now. Raises BuildError."""
    text: str = nbformat.writes(assignment(root, name), version=4)
    return f"{text}\n".encode()


def assignment(root: Path, name: str) -> NotebookNode:
    """A notebook, with its solutions. Raises BuildError."""
    notebook = read_lesson(root / "source" / f"{name}.py")
    change = load_course_file(root).change(name)
    adapt_notebook(notebook, change)
    insert_questions(notebook, root / "grader_tests" / name, change)
    insert_setup_cell(notebook, f"{name}.ipynb", origin(delivery(root)))
    state_effort(notebook)
    return notebook


def check_lesson(notebook: NotebookNode, text: Path, lesson: Lesson) -> None:
    """Check that a lesson's text and its exercises agree. Raises BuildError."""
    exercises = list(lesson.exercises.values())
    cells = {grade_id(c): c for c in notebook.cells if grade_id(c)}
    marks = {g: cell.metadata.nbgrader for g, cell in cells.items()}
    order = [g for g in cells if marks[g].get("solution") and not marks[g].get("grade")]  # the others: by hand
    if order != [e.name for e in exercises]:
        raise BuildError(
            f"{text.name}: the solution cells are {order}, but the exercises are {[e.name for e in exercises]}"
        )
    for exercise in exercises:
        check = cells.get(check_of(exercise.name))
        if check is None or not check.metadata.nbgrader.get("locked"):
            raise BuildError(f"{text.name}: {exercise.name} needs a locked grade cell {check_of(exercise.name)}")
        points = check.metadata.nbgrader.get("points")
        if not (isinstance(points, (int, float)) and points > 0):
            raise BuildError(f"{text.name}: {check_of(exercise.name)}: expected more than 0 points, got {points}")
    check_kinds(notebook, text)
    check_ratings(notebook, text)
    headings = {h for c in notebook.cells if c.cell_type == "markdown" for h in HEADING.findall(c.source)}
    _check_steps(notebook, text, lesson)
    check_names(notebook, text, lesson)
    check_lines(notebook, text)
    for exercise in lesson.all_tasks.values():
        for see in {exercise.see, *(m.see for m in exercise.mistakes)} - {""}:
            if see not in headings:
                raise BuildError(
                    f"{text.name}: {exercise.name} refers to the heading {see!r}, which the lesson does not have"
                )


def _check_steps(notebook: NotebookNode, text: Path, lesson: Lesson) -> None:
    """Check that each step has a cell that defines it and a check, in the order of STEPS. Raises BuildError."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    order = []
    for name in lesson.steps:
        place = next((i for i, cell in enumerate(code) if defines(cell.source, name)), None)
        if place is None:
            raise BuildError(f"{text.name}: the step {name} needs a cell that defines it")
        if not any(cell.source.startswith(check_call(name)) for cell in code[place + 1 :]):
            raise BuildError(
                f"{text.name}: the step {name} needs a cell `{check_call(name)}` below the cell that defines it"
            )
        order.append((place, name))
    if order != sorted(order):
        raise BuildError(
            f"{text.name}: the steps are in the order {[name for _, name in sorted(order)]}, but STEPS has "
            f"{list(lesson.steps)}"
        )
