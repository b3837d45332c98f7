"""What the judge found, as plain data that survives JSON, pickling and a term's end.

A verdict tells the learner's error from ours: `internal` is set where the judge itself failed, and such an exercise
"needs a person"; it is never a zero.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MIME = "application/vnd.attention-course.verdict+json"


@dataclass
class CriterionVerdict:
    """status: "right", "wrong", or "not reached" (an earlier call ended the kernel or the exercise's time)."""

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
    """status: "right", "partly right", "wrong", "not started", "not allowed", "needs a person"."""

    exercise: str
    points: float
    earned: float
    status: str
    criteria: list[CriterionVerdict] = field(default_factory=list)
    mistake: str = ""  # name of the known mistake
    family: str = ""  # id of the idea that it shares with mistakes of other exercises
    explanation: str = ""  # what the report says about it
    see: str = ""
    sure: bool = True  # False: that mistake is said to be one thing that may be wrong
    also: str = ""  # name of a second known mistake, where two at once explain the answer
    also_see: str = ""
    also_family: str = ""
    not_allowed: list[str] = field(default_factory=list)
    followed_through: list[str] = field(default_factory=list)
    internal: str = ""
    notes: list[str] = field(default_factory=list)
    seed: int | str = 0  # the number that cases were drawn from, or the name of the course's secret
    sandboxed: bool = True

    @property
    def named(self) -> str:
        """What is named, in short: `mistake`, `mistake?` where it is only likely, or `mistake + also`."""
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
