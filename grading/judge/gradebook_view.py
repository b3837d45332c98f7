"""The gradebook's data on one submission, as plain data for a judge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class CellGrade:
    """A cell's grade. manual: scored by a person; waiting: open; given: whether it has points, which may be open."""

    score: float
    points: float
    manual: bool = False
    waiting: bool = False
    given: bool = True


@dataclass(frozen=True)
class GradebookView:
    """The gradebook's data on one submission and its lesson.

    late           how late it is, and the late policy; "" if it is on time
    title          the lesson's title; "" if unknown
    left_out       texts and code of the lesson itself, which the page does not repeat
    models         rubrics and model answers of graded questions, as Markdown, by grade_id
    not_collected  the files of the submission that were not collected, each with the reason
    """

    student: str
    grades: dict[str, CellGrade] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    late_penalty: float = 0.0
    late: str = ""
    title: str = ""
    left_out: tuple[str, ...] = ()
    models: dict[str, str] = field(default_factory=dict)
    not_collected: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GradebookView:
        grades = {name: CellGrade(**grade) for name, grade in data["grades"].items()}
        return cls(**{**data, "grades": grades, "left_out": tuple(data["left_out"])})


def title_of(texts: Iterable[str]) -> str:
    """The first level-1 heading of Markdown texts, as plain text; "" if none."""
    first = re.search(r"^#\s+(.+)$", "\n".join(texts), re.M)
    return re.sub(r"[*`$]", "", first[1]).strip() if first else ""
