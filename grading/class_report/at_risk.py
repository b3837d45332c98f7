"""Find students who may need help, with the reasons, for a person to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from course.outline import counts

from .model import ClassGrades

LOW = 0.5  # share of a lesson's points
LATEST = 2  # number of lessons considered
HALF = 0.5  # share of the class


@dataclass(frozen=True)
class Concern:
    """A student who may need help, with the reasons as sentences."""

    student: str
    why: tuple[str, ...]


def concerns(grades: ClassGrades) -> list[Concern]:
    """List the students who may need help.

    They have not handed in a lesson that half of the class has handed in, or in each of their latest two lessons they
    earned less than half of the points and less than the class's median. Warm-ups are left out: they are optional.
    """
    return [Concern(student, why) for student in grades.students if (why := tuple(_reasons(grades, student)))]


def _reasons(grades: ClassGrades, student: str) -> Iterator[str]:
    settled = {s.lesson for s in grades.submissions if s.student == student}
    settled |= {lesson for who, lesson in (*grades.ungraded, *grades.excused) if who == student}
    missing = [lesson for lesson in _expected_lessons(grades) if lesson not in settled]
    if missing:
        yield f"has not handed in {', '.join(missing)}"
    lessons = filter(counts, grades.lessons)
    own = [s for lesson in lessons for s in grades.whole(lesson) if s.student == student][-LATEST:]
    if len(own) == LATEST and all(s.share < min(LOW, _median(grades, s.lesson)) for s in own):
        yield f"under half of the points in {' and '.join(s.lesson for s in own)}"


def _expected_lessons(grades: ClassGrades) -> list[str]:
    """Lessons that at least half of the students without an excuse have handed in."""
    excused = Counter(lesson for _, lesson in grades.excused)
    came, students = Counter(s.lesson for s in grades.submissions), len(grades.students)
    expected = filter(counts, grades.lessons)
    return [lesson for lesson in expected if came[lesson] >= HALF * (students - excused[lesson])]


def _median(grades: ClassGrades, lesson: str) -> float:
    return median(s.share for s in grades.whole(lesson))
