"""The cells of a lesson as the course released them: what a submission is held against.

The gradebook is the authority for the marked cells (source, points, checksum). The lesson's own notebook, where it is
at hand, adds what the gradebook does not keep: the order of the cells, their ids, and the cells without marks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from grading.cells import exercise_named, grade_id, visible

PYTHON = {"display_name": "Python 3", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class MarkedCell:
    """A cell with nbgrader metadata, from the gradebook."""

    name: str
    cell_type: str
    source: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float
    checksum: str
    cell_id: str = ""
    tags: tuple[str, ...] = ()

    @property
    def visible(self) -> str:
        """The text that the student got."""
        return visible(self.source)

    @property
    def exercise(self) -> str:
        return exercise_named(self.name)

    def metadata(self) -> dict[str, Any]:
        """What the cell's metadata must be, all of it."""
        marks = {
            "grade": self.grade,
            "grade_id": self.name,
            "locked": self.locked,
            "schema_version": 3,
            "solution": self.solution,
            "task": self.task,
            "cell_type": self.cell_type,
        }
        if self.grade or self.task:
            marks["points"] = self.points
        if self.checksum:
            marks["checksum"] = self.checksum
        metadata: dict[str, Any] = {"nbgrader": marks, "deletable": False}
        if self.locked:
            metadata["editable"] = False
        return {**metadata, "tags": list(self.tags)} if self.tags else metadata


@dataclass(frozen=True)
class PlainCell:
    """A cell of the lesson without marks."""

    cell_id: str
    cell_type: str
    source: str
    tags: tuple[str, ...] = ()


@dataclass
class ReleasedNotebook:
    """`order` is the lesson's cells from top to bottom; `marked` are those with marks, by name."""

    order: list[MarkedCell | PlainCell]
    kernelspec: dict[str, Any] = field(default_factory=lambda: dict(PYTHON))

    def __post_init__(self) -> None:
        self.marked = {cell.name: cell for cell in self.order if isinstance(cell, MarkedCell)}
        self.plain = [cell for cell in self.order if isinstance(cell, PlainCell)]
        self.by_id = {cell.cell_id: cell.name for cell in self.marked.values() if cell.cell_id}
        for name in self.marked:  # the build's ids, where the lesson's notebook is not at hand
            self.by_id.setdefault(name, name)
            self.by_id.setdefault(name.replace("_", "-"), name)

    def answer_of(self, grade: MarkedCell) -> str | None:
        """The name of the solution cell that a grade cell judges: by its name, else the one before it."""
        if grade.exercise in self.marked and self.marked[grade.exercise].solution:
            return grade.exercise
        before = list(self.marked.values())[: list(self.marked).index(grade.name)]
        return next((cell.name for cell in reversed(before) if cell.solution), None)

    def tags_of(self, cell_type: str, source: str) -> tuple[str, ...]:
        """The tags of the unmarked lesson cell with exactly this text; a changed cell has none."""
        wanted = (cell_type, source.strip())
        same = (c.tags for c in self.plain if (c.cell_type, c.source.strip()) == wanted)
        return next(same, ())


def load_released(
    db_url: str, assignment: str, notebook: str, coursedir: CourseDirectory | None = None
) -> ReleasedNotebook:
    """The notebook as the gradebook and, if it can be found, the lesson's own file know it."""
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
    raw = _own_cells(coursedir, assignment, notebook)
    return ReleasedNotebook(_in_order(marked, raw), kernelspec)


def _own_cells(coursedir: CourseDirectory | None, assignment: str, notebook: str) -> list[dict[str, Any]]:
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


def _in_order(marked: dict[str, MarkedCell], raw: list[dict[str, Any]]) -> list[MarkedCell | PlainCell]:
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
