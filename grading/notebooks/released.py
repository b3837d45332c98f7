"""The cells of a lesson as released, with which submissions are compared.

Does not cover: where they come from (`grading.gradebook.view`; a judge gets them as plain data).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from grading.notebooks.cells import exercise_named, visible

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
        """The text that students got."""
        return visible(self.source)

    @property
    def exercise(self) -> str:
        return exercise_named(self.name)

    def metadata(self) -> dict[str, Any]:
        """The complete metadata that the cell must have."""
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
    """A cell of the lesson without nbgrader metadata."""

    cell_id: str
    cell_type: str
    source: str
    tags: tuple[str, ...] = ()


@dataclass
class ReleasedNotebook:
    """The lesson's cells in `order`; those with nbgrader metadata in `marked`."""

    order: list[MarkedCell | PlainCell]
    kernelspec: dict[str, Any] = field(default_factory=lambda: dict(PYTHON))

    def __post_init__(self) -> None:
        self.marked = {cell.name: cell for cell in self.order if isinstance(cell, MarkedCell)}
        self.plain = [cell for cell in self.order if isinstance(cell, PlainCell)]
        self.by_id = {cell.cell_id: cell.name for cell in self.marked.values() if cell.cell_id}
        for name in self.marked:  # the build's ids, if the lesson's notebook is missing
            self.by_id.setdefault(name, name)
            self.by_id.setdefault(name.replace("_", "-"), name)

    def answer_of(self, grade: MarkedCell) -> str | None:
        """The solution cell that a grade cell grades: by its name, else the one before."""
        if grade.exercise in self.marked and self.marked[grade.exercise].solution:
            return grade.exercise
        before = list(self.marked.values())[: list(self.marked).index(grade.name)]
        return next((cell.name for cell in reversed(before) if cell.solution), None)

    def tags_of(self, cell_type: str, source: str) -> tuple[str, ...]:
        """The tags of the unmarked lesson cell with exactly this text, if any."""
        wanted = (cell_type, source.strip())
        same = (c.tags for c in self.plain if (c.cell_type, c.source.strip()) == wanted)
        return next(same, ())

    def to_json(self) -> dict[str, Any]:
        cells = [{"marked": isinstance(cell, MarkedCell), **asdict(cell)} for cell in self.order]
        return {"order": cells, "kernelspec": self.kernelspec}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ReleasedNotebook:
        order: list[MarkedCell | PlainCell] = []
        for cell in data["order"]:
            about = {**cell, "tags": tuple(cell["tags"])}
            order.append((MarkedCell if about.pop("marked") else PlainCell)(**about))
        return cls(order, data["kernelspec"])
