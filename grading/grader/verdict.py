"""The grader's result, as plain data that can be stored as JSON and pickled.

A verdict separates the learner's errors from ours: `internal` is set if the grader itself failed, and such an exercise
"needs a person"; it is never a zero.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MIME = "application/vnd.attention-course.verdict+json"


@dataclass
class CriterionVerdict:
    """Result of a criterion, with the first failing case.

    status: "right", "wrong", or "not reached" (an earlier call ended the kernel or the exercise's time)
    """

    name: str
    points: float
    earned: float
    status: str
    case: str = ""
    rung: str = ""
    finding: str = ""
    mistake: str = ""


@dataclass
class ExerciseVerdict:
    """Result of an exercise.

    status: "right", "partly right", "wrong", "not started", "not allowed" or "needs a person"
    """

    exercise: str
    points: float
    earned: float
    status: str
    criteria: list[CriterionVerdict] = field(default_factory=list)
    mistake: str = ""  # name of the known mistake
    family: str = ""  # id of the idea that it shares with mistakes of other exercises
    explanation: str = ""  # what the report says about it
    see: str = ""
    sure: bool = True  # False: the mistake is only one possible cause
    also: str = ""  # name of a second known mistake, if two at once explain the answer
    also_see: str = ""
    also_family: str = ""
    not_allowed: list[str] = field(default_factory=list)
    followed_through: list[str] = field(default_factory=list)
    internal: str = ""
    notes: list[str] = field(default_factory=list)
    seed: int | str = 0  # the number that cases were drawn from, or the id of the course's secret seed
    sandboxed: bool = True

    @property
    def named(self) -> str:
        """The mistakes in short: `mistake`, `mistake?` if uncertain, `mistake + also`."""
        return f"{self.mistake} + {self.also}" if self.also else self.mistake + "?" * (not self.sure)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ExerciseVerdict:
        data = dict(data)
        data["criteria"] = [CriterionVerdict(**c) for c in data.get("criteria", [])]
        return cls(**data)


def needs_a_person(exercise: str, points: float, why: str, **others: Any) -> ExerciseVerdict:
    return ExerciseVerdict(exercise, points, 0.0, "needs a person", internal=why, **others)
