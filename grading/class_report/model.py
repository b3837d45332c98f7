"""A class as plain data. Does not cover: loading it (`coordinator.class_data`)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..grader.verdict import SIGNS, ExerciseVerdict

EXCUSED = "excused"  # shown in tables instead of points


@dataclass(frozen=True)
class Answer:
    """One exercise of one submission, or one cell that a person grades.

    points   the gradebook's, so a teacher's count; None until a person has given them
    verdict  the grader's; for a cell that a person grades, one that says that
    waiting  whether its grade is open: a person has to look at it
    source   the student's code; "" if not available
    why      why it is open; "" if the verdict has the reason
    """

    student: str
    lesson: str
    points: float | None
    verdict: ExerciseVerdict
    waiting: bool = False
    source: str = ""
    why: str = ""

    @property
    def reason(self) -> str:
        """Why a person has to look at this answer."""
        return self.why or self.verdict.grader_error

    @property
    def exercise(self) -> str:
        return self.verdict.exercise

    @property
    def share(self) -> float | None:
        """Share of the points, 0 to 1; None without points."""
        return None if self.points is None or not self.verdict.points else self.points / self.verdict.points

    @property
    def begun(self) -> bool:
        return self.verdict.status != "not started"

    @property
    def judged(self) -> bool:
        """Whether the grader reached a verdict, rather than leaving it to a person."""
        return self.verdict.status != "needs a person"


@dataclass(frozen=True)
class Submission:
    """One graded lesson of one student.

    points     after the late penalty
    handed_in  in the course's time zone
    open       whether it has an open grade, so that its points are provisional
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
class ClassGrades:
    """The grades of a class.

    ungraded  (student, lesson) of submissions without a grade
    excused   (student, lesson) of excuses; their answers and submissions are left out here, so they count in no mean
    title     the course's title
    order     the course's lessons
    """

    answers: Sequence[Answer]
    submissions: Sequence[Submission]
    ungraded: Sequence[tuple[str, str]] = ()
    excused: Sequence[tuple[str, str]] = ()
    title: str = ""
    order: Sequence[str] = ()

    @property
    def students(self) -> list[str]:
        return sorted({s.student for s in self.submissions} | {who for who, _ in (*self.ungraded, *self.excused)})

    def whole(self, lesson: str) -> list[Submission]:
        """A lesson's submissions whose points are not provisional."""
        return [s for s in self.submissions if s.lesson == lesson and not s.open]

    @property
    def lessons(self) -> list[str]:
        """The lessons with submissions, in the course's order; unknown ones come last."""
        known = {name: place for place, name in enumerate(self.order)}
        return sorted({s.lesson for s in self.submissions}, key=lambda name: (known.get(name, len(known)), name))

    def exercises(self, lesson: str) -> list[str]:
        """A lesson's exercises, in order of first appearance."""
        return list(dict.fromkeys(a.exercise for a in self.answers if a.lesson == lesson))

    @property
    def signs(self) -> list[tuple[Answer, str]]:
        """Answers that look like a table or a spy, with each sign of it (`SIGNS`)."""
        return [(a, sign) for a in self.answers for sign in a.verdict.signs if sign in SIGNS]

    def of(self, lessons: Collection[str] | None, students: Collection[str] | None) -> ClassGrades:
        """Keep only these lessons and students; None or an empty collection keeps all."""

        def wanted(student: str, lesson: str) -> bool:
            return (not lessons or lesson in lessons) and (not students or student in students)

        return ClassGrades(
            [answer for answer in self.answers if wanted(answer.student, answer.lesson)],
            [submission for submission in self.submissions if wanted(submission.student, submission.lesson)],
            [pair for pair in self.ungraded if wanted(*pair)],
            [pair for pair in self.excused if wanted(*pair)],
            self.title,
            self.order,
        )

    def anonymous(self, secret: str) -> ClassGrades:
        """Replace names by numbers.

        Without the secret, the order of the numbers reveals nothing.
        """
        order = sorted(self.students, key=lambda name: hashlib.sha256(f"{secret} {name}".encode()).digest())
        width = len(str(len(order)))
        names = {name: f"student {number:0{width}}" for number, name in enumerate(order, 1)}
        return ClassGrades(
            [replace(answer, student=names[answer.student]) for answer in self.answers],
            [replace(submission, student=names[submission.student]) for submission in self.submissions],
            [(names[who], lesson) for who, lesson in self.ungraded],
            [(names[who], lesson) for who, lesson in self.excused],
            self.title,
            self.order,
        )


def quartiles(submissions: Sequence[Submission]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile of the shares, in percent.

    Interpolates linearly. NaN without submissions.
    """
    shares = sorted(100 * s.share for s in submissions)
    return _quantile(shares, 0.25), _quantile(shares, 0.5), _quantile(shares, 0.75)


def _quantile(ordered: Sequence[float], part: float) -> float:
    if not ordered:
        return math.nan
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
