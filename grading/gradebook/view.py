"""The gradebook's data for a judge, which the coordinator reads, as plain data.

The gradebook decides which cells a lesson marks, with their source, points and checksum. The lesson's own notebook, if
available, adds what the gradebook does not store: the order and ids of the cells, and the unmarked cells.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory

from grading.exercises.question import Question
from grading.judge.job import CellGrade, GradebookView
from grading.notebooks.cells import grade_id, title_of
from grading.notebooks.released import PYTHON, MarkedCell, PlainCell, ReleasedNotebook

from .answer_marks import chosen_items
from .late_rules import reason_kept
from .open_grades import is_open


def lesson_of(ids: dict[str, Any], coursedir: CourseDirectory | None) -> ReleasedNotebook | None:
    """The lesson of a submitted notebook; None if it is not in the gradebook.

    `ids`: nbgrader's resources.
    """
    try:
        return load_released(ids["db_url"], ids["assignment"], ids["notebook"], coursedir)
    except MissingEntry:
        return None


def known_to_gradebook(
    ids: dict[str, Any],
    lesson: ReleasedNotebook | None = None,
    whole: bool = True,
    questions: Mapping[str, Question] = MappingProxyType({}),
) -> GradebookView:
    """The student's name, and the grades and comments of a submitted notebook.

    ids        nbgrader's resources
    whole      whether the feedback page repeats the lesson
    questions  the lesson's written questions; the page shows the model answers of the graded ones
    """
    order = lesson.order if lesson else []
    cells = [c for c in order if isinstance(c, PlainCell) or not (c.grade or c.solution or c.task)]
    title = title_of(cell.source for cell in cells if cell.cell_type == "markdown")
    left_out = () if whole else tuple(sorted({cell.source.strip() for cell in cells}))
    with Gradebook(ids["db_url"]) as gradebook:
        try:
            student = gradebook.find_student(ids["student"])
            notebook = gradebook.find_submission_notebook(ids["notebook"], ids["assignment"], ids["student"])
        except MissingEntry:  # graded elsewhere: only the notebook and its verdicts are available
            return GradebookView(ids["student"], title=title, left_out=left_out)
        full_name = " ".join(part for part in (student.first_name, student.last_name) if part)
        grades = {
            g.name: CellGrade(
                g.score,
                g.max_score,
                manual=g.manual_score is not None,
                waiting=is_open(g),
                given=g.manual_score is not None or g.auto_score is not None,
            )
            for g in notebook.grades
        }
        comments = {c.name: c.comment for c in notebook.comments if c.comment}
        who = f"{full_name} ({student.id})" if full_name else str(student.id)
        penalty = float(notebook.late_submission_penalty or 0.0)
        graded = {name: grade for name, grade in grades.items() if name in questions and not grade.waiting}
        chosen = chosen_items(gradebook, notebook.id) if graded else {}
        models = {
            name: questions[name].worth(grade.points).comparison(chosen.get(name, ())) for name, grade in graded.items()
        }
        late = reason_kept(gradebook, notebook.id)
        return GradebookView(who, grades, comments, penalty, late, title, left_out, models)


def load_released(
    db_url: str, assignment: str, notebook: str, coursedir: CourseDirectory | None = None
) -> ReleasedNotebook:
    """The released notebook, from the gradebook and, if found, the lesson's own file."""
    with Gradebook(db_url) as gradebook:
        known = gradebook.find_notebook(notebook, assignment)
        points = {cell.name: float(cell.max_score) for cell in [*known.grade_cells, *known.task_cells]}
        grades, tasks = {c.name for c in known.grade_cells}, {c.name for c in known.task_cells}
        solutions = {cell.name for cell in known.solution_cells}
        kernelspec = json.loads(known.kernelspec or "{}") or dict(PYTHON)
        marked = {
            cell.name: MarkedCell(
                name=cell.name,
                cell_type=cell.cell_type,
                source=cell.source or "",
                locked=bool(cell.locked),
                grade=cell.name in grades,
                solution=cell.name in solutions,
                task=cell.name in tasks,
                points=points.get(cell.name, 0.0),
                checksum=cell.checksum or "",
            )
            for cell in known.source_cells
        }
    raw = _cells_from_file(coursedir, assignment, notebook)
    return ReleasedNotebook(_merge_cells(marked, raw), kernelspec)


def _cells_from_file(coursedir: CourseDirectory | None, assignment: str, notebook: str) -> list[dict[str, Any]]:
    if coursedir is None:
        return []
    for step in (coursedir.source_directory, coursedir.release_directory):
        path = f"{coursedir.format_path(step, '.', assignment)}/{notebook}.ipynb"
        try:
            with open(path, encoding="utf-8") as file:
                return list(json.load(file)["cells"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return []


def _merge_cells(marked: dict[str, MarkedCell], raw: list[dict[str, Any]]) -> list[MarkedCell | PlainCell]:
    order: list[MarkedCell | PlainCell] = []
    rest = dict(marked)
    for cell in raw:
        name = grade_id(cell)
        about = {"cell_id": cell.get("id", ""), "tags": tuple(cell["metadata"].get("tags", ()))}
        if name in rest:
            order.append(MarkedCell(**{**vars(rest.pop(name)), **about}))
        elif name not in marked:
            source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            order.append(PlainCell(cell_type=cell["cell_type"], source=source, **about))
    return order + list(rest.values())
