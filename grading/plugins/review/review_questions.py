"""The parts of a lesson that a person grades: written answers, tasks, exercises that the grader left to a person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup
from nbgrader.api import BaseCell, Grade, Gradebook, GradeCell, Notebook, SolutionCell, TaskCell
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import or_, select

from grading.exercises.question import Question
from grading.gradebook.view import load_released
from grading.notebooks.cells import exercise_named
from grading.notebooks.released import MarkedCell, ReleasedNotebook
from grading.notebooks.sanitize_html import from_markdown
from grading.notebooks.written_answers import answered_question, written_answer

from .marks import QuestionCells

KINDS = ("written", "task", "exercise")


@dataclass(frozen=True)
class ReviewQuestion:
    """A question of a lesson.

    key                 notebook and cell, unique in the lesson
    kind                one of KINDS
    answer              name of the cell with the answer; the answer to a task is below the cell of this name
    code                whether the answer is code
    text, model_answer  HTML from the lesson's own Markdown; empty if there is none
    untouched           the answer cell's released text
    own                 texts of the lesson's own cells, which cannot answer a task
    """

    key: str
    title: str
    kind: str
    points: float
    cells: QuestionCells
    answer: str
    code: bool
    text: Markup
    model_answer: Markup
    contract: Question | None
    untouched: str
    own: frozenset[str]

    def is_blank(self, text: str) -> bool:
        """Whether this text is empty or untouched."""
        return text.strip() in ("", self.untouched)


def load_review_questions(
    gradebook: Gradebook, lesson: str, coursedir: CourseDirectory, contracts: Mapping[str, Question]
) -> list[ReviewQuestion]:
    """The questions of a lesson in its order.

    `contracts`: its written questions by name.
    """
    found = []
    for notebook in gradebook.find_assignment(lesson).notebooks:
        released = load_released(coursedir.db_url, lesson, notebook.name, coursedir)
        exercises = _for_a_person(gradebook, notebook.id)
        ids = _cell_ids(gradebook, notebook)
        found += [
            _question(cell, kind, notebook.name, released, ids, contracts.get(cell.name))
            for cell in released.marked.values()
            if (kind := _kind(cell)) and (kind != "exercise" or cell.name in exercises)
        ]
    return found


def _kind(cell: MarkedCell) -> str:
    if cell.task:
        return "task"
    if not cell.grade:
        return ""
    return "written" if cell.solution else "exercise"


def _for_a_person(gradebook: Gradebook, notebook: str) -> set[str]:
    """Names of graded cells for which some submission needs, or got, manual points."""
    by_hand = or_(Grade.needs_manual_grade, Grade.manual_score.is_not(None))
    rows = select(BaseCell.name).join(Grade, Grade.cell_id == BaseCell.id)
    return set(gradebook.db.scalars(rows.where(BaseCell.notebook_id == notebook, by_hand).distinct()))


def _cell_ids(gradebook: Gradebook, notebook: Notebook) -> dict[tuple[type[BaseCell], str], str]:
    every = [*notebook.grade_cells, *notebook.task_cells, *notebook.solution_cells]
    return {(type(cell), cell.name): cell.id for cell in every}


def _question(
    cell: MarkedCell,
    kind: str,
    notebook: str,
    released: ReleasedNotebook,
    ids: Mapping[tuple[type[BaseCell], str], str],
    contract: Question | None,
) -> ReviewQuestion:
    answer = (released.answer_of(cell) or cell.name) if kind == "exercise" else cell.name
    if kind == "task":
        cells = QuestionCells(notebook, cell.name, ids[TaskCell, cell.name], ids[TaskCell, cell.name])
    else:
        cells = QuestionCells(notebook, cell.name, ids[GradeCell, cell.name], ids.get((SolutionCell, answer)))
    released_as, prose = released.marked[answer].visible, False
    if answered_question({"cell_type": released.marked[answer].cell_type, "source": released_as}):
        released_as, prose = written_answer(released_as), True
    title = contract.title if contract else exercise_named(cell.name)
    text = contract.text if contract else _text_before(cell, kind, released)
    return ReviewQuestion(
        key=f"{notebook}/{cell.name}",
        title=re.sub(r"[*`$]", "", title),
        kind=kind,
        points=cell.points,
        cells=cells,
        answer=answer,
        code=kind == "exercise" or (kind == "written" and cell.cell_type == "code" and not prose),
        text=from_markdown(text, deeper=2) if text else Markup(),
        model_answer=from_markdown(contract.model_answer, deeper=2) if contract else Markup(),
        contract=contract,
        untouched=released_as.strip() if kind == "written" else "",
        own=frozenset(other.source.strip() for other in released.plain),
    )


def _text_before(cell: MarkedCell, kind: str, released: ReleasedNotebook) -> str:
    """The text of a question that has no file.

    It is the task itself, or the text above the answer.
    """
    if kind == "task":
        return cell.visible
    if kind == "exercise":
        return ""
    above = released.order[: released.order.index(cell)]
    texts = (c.source for c in reversed(above) if c.cell_type == "markdown" and not getattr(c, "solution", False))
    return next(texts, "")
