"""What the gradebook knows of one submitted notebook, as plain data that a judge is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class CellGrade:
    """What the gradebook holds of one cell. manual: a person gave the score; waiting: a person is still to give it."""

    score: float
    points: float
    manual: bool = False
    waiting: bool = False


@dataclass(frozen=True)
class GradebookView:
    """What the gradebook knows of one submitted notebook, and what the lesson is.

    late      why there is a penalty, in words
    title     of the lesson; "": not known
    left_out  texts and code of the lesson's own, which the page does not repeat
    """

    student: str
    grades: dict[str, CellGrade] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    late_penalty: float = 0.0
    late: str = ""
    title: str = ""
    left_out: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GradebookView:
        grades = {name: CellGrade(**grade) for name, grade in data["grades"].items()}
        return cls(**{**data, "grades": grades, "left_out": tuple(data["left_out"])})


def title_of(texts: Iterable[str]) -> str:
    """The first heading of the first level in Markdown texts, as plain text; "" where there is none."""
    first = re.search(r"^#\s+(.+)$", "\n".join(texts), re.M)
    return re.sub(r"[*`$]", "", first[1]).strip() if first else ""
