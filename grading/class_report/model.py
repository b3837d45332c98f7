"""What is known of a class, as plain data. Does not cover: where it comes from (`run.nbgrader`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..grader.verdict import ExerciseVerdict

EXCUSED = "excused"  # what tables say in the place of points


@dataclass(frozen=True)
class Answer:
    """One exercise of one submission.

    points   the gradebook's, so a teacher's count; None until a person has given them
    waiting  whether a person is to look at it
    source   what the student wrote; "" where it is not at hand
    """

    student: str
    lesson: str
    points: float | None
    verdict: ExerciseVerdict
    waiting: bool = False
    source: str = ""

    @property
    def exercise(self) -> str:
        return self.verdict.exercise

    @property
    def share(self) -> float | None:
        """Points of those there are, 0 to 1."""
        return None if self.points is None or not self.verdict.points else self.points / self.verdict.points

    @property
    def begun(self) -> bool:
        return self.verdict.status != "not started"

    @property
    def judged(self) -> bool:
        """Whether the judge has a verdict, rather than leaving it to a person."""
        return self.verdict.status != "needs a person"


@dataclass(frozen=True)
class Submission:
    """One graded lesson of one student.

    points  a penalty for being late is taken off
    open    whether an exercise has no points until a person gives them
    """

    student: str
    lesson: str
    points: float
    most: float
    handed_in: datetime | None = None
    open: bool = False

    @property
    def share(self) -> float:
        return self.points / self.most if self.most else 0.0


@dataclass(frozen=True)
class Course:
    """A class. ungraded: student and lesson of what was handed in and has no grade; excused: of what does not count, of
    which nothing else is here, so that it is in no mean."""

    answers: Sequence[Answer]
    submissions: Sequence[Submission]
    ungraded: Sequence[tuple[str, str]] = ()
    excused: Sequence[tuple[str, str]] = ()

    @property
    def students(self) -> list[str]:
        return sorted({s.student for s in self.submissions} | {who for who, _ in (*self.ungraded, *self.excused)})

    def whole(self, lesson: str) -> list[Submission]:
        """Those of a lesson that have all their points."""
        return [s for s in self.submissions if s.lesson == lesson and not s.open]

    @property
    def lessons(self) -> list[str]:
        return sorted({s.lesson for s in self.submissions})

    def exercises(self, lesson: str) -> list[str]:
        """In the order in which they come first."""
        return list(dict.fromkeys(a.exercise for a in self.answers if a.lesson == lesson))

    def anonymous(self, secret: str) -> Course:
        """The same with numbers for names. The order says nothing of the names to who does not know the secret."""
        order = sorted(self.students, key=lambda name: hashlib.sha256(f"{secret} {name}".encode()).digest())
        width = len(str(len(order)))
        names = {name: f"student {number:0{width}}" for number, name in enumerate(order, 1)}
        return Course(
            [replace(one, student=names[one.student]) for one in self.answers],
            [replace(one, student=names[one.student]) for one in self.submissions],
            *([(names[who], lesson) for who, lesson in those] for those in (self.ungraded, self.excused)),
        )
