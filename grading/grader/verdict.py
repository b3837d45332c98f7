"""The grader's result, as plain data that can be stored as JSON and pickled.

A verdict separates the learner's errors from ours: `grader_error` is set if the grader itself failed, and such an
exercise "needs a person"; it is never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from course.harness.sentences import does_not_allow

MIME = "application/vnd.attention-course.verdict+json"
TABLE, LITERALS, SPY = "table", "literals", "spy"
#: What a sign in `ExerciseVerdict.signs` means; none costs points
SIGNS = {
    TABLE: "passes every practice case and fails hidden ones of the same criteria, as a table of known cases does",
    LITERALS: "has more numbers and text written into it than an answer needs, as a table of known cases does",
    SPY: "keeps what it is called with outside of the call, as code that collects the grader's cases does",
}


@dataclass
class CriterionVerdict:
    """Result of a criterion, with the first failing case.

    status: "right", "wrong", or "not reached" (an earlier call ended the kernel or the exercise's time)
    raised: name of the exception that the case raised, if Python or torch has it
    """

    name: str
    points: float
    earned: float
    status: str
    case: str = ""
    stage: str = ""
    finding: str = ""
    mistake: str = ""
    raised: str = ""


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
    explanation: str = ""  # the report's headline
    advice: str = ""  # what to do about it
    section: str = ""
    certain: bool = True  # False: the mistake is only one possible cause
    second_mistake: str = ""  # name of a second known mistake, if two at once explain the answer
    second_section: str = ""
    second_family: str = ""
    example: dict[str, Any] = field(default_factory=dict)  # a practice case, as of `course.report.Example`
    not_allowed: list[str] = field(default_factory=list)
    followed_through: list[str] = field(default_factory=list)
    grader_error: str = ""
    notes: list[str] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)  # of a table or a spy (`SIGNS`), for the teacher only
    seed: int | str = 0  # the number that cases were drawn from, or the id of the course's secret seed
    sandboxed: bool = True

    @property
    def mistake_names(self) -> str:
        """The mistakes in short: `mistake`, `mistake?` if uncertain, `mistake + second_mistake`."""
        if self.second_mistake:
            return f"{self.mistake} + {self.second_mistake}"
        return self.mistake + "?" * (not self.certain)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ExerciseVerdict:
        """Read a stored verdict."""
        return cls(**{**data, "criteria": [CriterionVerdict(**c) for c in data.get("criteria", [])]})


def needs_a_person(exercise: str, points: float, why: str, **others: Any) -> ExerciseVerdict:
    return ExerciseVerdict(exercise, points, 0.0, "needs a person", grader_error=why, **others)


def forbid(verdict: ExerciseVerdict, names: Iterable[str]) -> None:
    """Set the verdict on an answer that used forbidden functions; `names`: of those that may be shown."""
    for criterion in verdict.criteria:
        criterion.earned = 0.0
    verdict.earned, verdict.status, verdict.not_allowed = 0.0, "not allowed", list(names)
    verdict.explanation, verdict.advice = does_not_allow(verdict.not_allowed), ""
