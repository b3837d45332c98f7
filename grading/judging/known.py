"""What the gradebook knows of one submitted notebook, as plain data that a judge is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Grade:
    """What the gradebook holds of one cell. manual: a person gave the score; waiting: a person is still to give it."""

    score: float
    points: float
    manual: bool = False
    waiting: bool = False


@dataclass(frozen=True)
class Known:
    """What the gradebook knows of one submitted notebook."""

    student: str
    grades: dict[str, Grade] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    late_penalty: float = 0.0

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Known:
        grades = {name: Grade(**grade) for name, grade in data["grades"].items()}
        return cls(data["student"], grades, data["comments"], data["late_penalty"])
