"""`check` and the grade agree on whole notebooks, whose answers are right, wrong, unwritten and unreadable in turn.

In four notebooks per lesson each exercise is in each state once, and so are the earlier ones that it calls. One of the
four is tried in one week.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course.cell_kinds import is_left_out
from grading.coordinator.demo_class import hand_in, write_answers
from grading.course import Course
from grading.exercises.exercise import Exercise
from grading.exercises.lesson import load_lesson
from grading.grader.source_analysis import NotebookSource
from grading.notebooks.cells import grade_id

from .support.course_builder import build_course, grade_lesson, released_notebook
from .support.learner_kernel import running_kernel
from .support.repository import LESSONS, SEED, of_this_week

pytestmark = pytest.mark.usefixtures("sandboxed")

STATES = ("right", "wrong", "unwritten", "unreadable")
UNREADABLE = ("```python\n{}\n```", "{}\n\nfor", "Here is the function:\n\n{}", "{}\n<<<<<<< HEAD\n")

Outcome = tuple[float, bool]  # the points, and whether the exercise is started


def solutions(root: Path, lesson: str) -> dict[str, str]:
    """The lesson's own solutions, which call earlier exercises."""
    source = nbformat.read(root / "source" / lesson / f"{lesson}.ipynb", as_version=4)
    return {grade_id(c): c.source for c in source.cells if c.metadata.get("nbgrader", {}).get("solution")}


def wrong_answer(exercise: Exercise) -> str:
    allowed = (
        m for m in exercise.mistakes if not NotebookSource([m.code]).not_allowed(exercise.name, exercise.forbidden)
    )
    return next(allowed).cell


def notebook_in_turn(root: Path, lesson: str, turn: int) -> NotebookNode:
    """The release, exercise by exercise in the next state, from state `turn` on."""
    exercises, right, answers = load_lesson(root / "grader_tests" / lesson).exercises, solutions(root, lesson), {}
    for number, exercise in enumerate(exercises.values()):
        state = STATES[(number + turn) % 4]
        if state == "right":
            answers[exercise.name] = right[exercise.name]
        elif state == "wrong":
            answers[exercise.name] = wrong_answer(exercise)
        elif state == "unreadable":
            answers[exercise.name] = UNREADABLE[number % 4].format(right[exercise.name])
    return write_answers(released_notebook(root, lesson), answers)


def checked(notebook: NotebookNode, where: Path) -> dict[str, Outcome]:
    """What `check` says of each exercise, in a kernel in which the cells have run that a grade does not leave out."""
    with running_kernel(where) as kernel:
        said = {}
        for cell in notebook.cells:
            if cell.cell_type == "code" and not is_left_out(cell.metadata, cell.source):
                is_check = grade_id(cell).startswith("check_")
                shown = kernel.run(f"float({cell.source}\n)" if is_check else cell.source)
                if is_check:
                    said[grade_id(cell).removeprefix("check_")] = shown
        return {name: (float(shown.value), "not started" not in shown.html) for name, shown in said.items()}


def graded(root: Path, lesson: str, turn: int) -> dict[str, Outcome]:
    verdicts = [given.verdict for given in Course(root).verdicts(lesson) if given.student == f"turn-{turn}"]
    return {verdict.exercise: (verdict.earned, verdict.status != "not started") for verdict in verdicts}


@pytest.mark.quick_cases("*02_softmax*")
@pytest.mark.parametrize("turn", of_this_week(range(4), 4))
@pytest.mark.parametrize("lesson", LESSONS)
def test_check_says_of_every_answer_what_the_grade_says(tmp_path: Path, lesson: str, turn: int) -> None:
    root = build_course(tmp_path / "course", [lesson], seed=SEED, release=True)
    notebook = notebook_in_turn(root, lesson, turn)
    hand_in(root, lesson, f"turn-{turn}", notebook)
    grade_lesson(root, lesson)
    assert checked(notebook, tmp_path) == graded(root, lesson, turn)


def unreadable_at(where: str, root: Path) -> NotebookNode:
    """Lesson 02, solved, with a `softmax` that Python cannot read in its cell or below what calls it."""
    broken = "Here is the function:\n\n" + solutions(root, "02_softmax")["softmax"]
    notebook = write_answers(released_notebook(root, "02_softmax"), solutions(root, "02_softmax") | {"softmax": broken})
    own = [cell for cell in notebook.cells if grade_id(cell) in ("softmax", "check_softmax")]
    if where == "moved down with its check":
        notebook.cells = [cell for cell in notebook.cells if cell not in own] + own
    elif where == "in another cell":
        own[0].source = ""
        notebook.cells.append(new_code_cell(broken))
    return notebook


@pytest.mark.full
def test_an_unreadable_answer_costs_once_wherever_it_is(tmp_path: Path) -> None:
    root = build_course(tmp_path / "course", ["02_softmax"], seed=SEED, release=True)
    places = ["in its cell", "moved down with its check", "in another cell"]
    notebooks = [unreadable_at(where, root) for where in places]
    for turn, notebook in enumerate(notebooks):
        hand_in(root, "02_softmax", f"turn-{turn}", notebook)
    grade_lesson(root, "02_softmax")
    points = {"softmax": 0.0, "log_softmax": 5.0, "softmax_with_temperature": 4.0, "entropy": 4.0}
    for turn, where in enumerate(places):
        assert {name: earned for name, (earned, _) in graded(root, "02_softmax", turn).items()} == points, where
    assert {name: earned for name, (earned, _) in checked(notebooks[-1], tmp_path).items()} == points
