"""How a course changes a lesson: other points, and exercises left out."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LessonChange:
    """A course's changes to a lesson. `points`: of exercises; `left_out`: exercises that the course does not ask."""

    points: dict[str, float] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.points or self.left_out)
