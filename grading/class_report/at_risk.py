"""Who may need help, by rules that are said with each name: a person decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from .model import Course

LOW = 0.5  # of a lesson's points
LATEST = 2  # lessons that are looked at
HALF = 0.5  # of the class


@dataclass(frozen=True)
class Concern:
    """A student, and why, in words."""

    student: str
    why: tuple[str, ...]


def concerns(course: Course) -> list[Concern]:
    """Students who miss a lesson that half of the class has handed in, or who were under half of the points, and under
    the class's median, in their latest two lessons."""
    return [Concern(student, why) for student in course.students if (why := tuple(_why(course, student)))]


def _why(course: Course, student: str) -> Iterator[str]:
    settled = {s.lesson for s in course.submissions if s.student == student}
    settled |= {lesson for who, lesson in (*course.ungraded, *course.excused) if who == student}
    missing = [lesson for lesson in _usual(course) if lesson not in settled]
    if missing:
        yield f"has not handed in {', '.join(missing)}"
    own = [s for lesson in course.lessons for s in course.whole(lesson) if s.student == student][-LATEST:]
    if len(own) == LATEST and all(s.share < min(LOW, _median(course, s.lesson)) for s in own):
        yield f"under half of the points in {' and '.join(s.lesson for s in own)}"


def _usual(course: Course) -> list[str]:
    """Lessons that half of the class or more has handed in, of those who are not excused."""
    free = Counter(lesson for _, lesson in course.excused)
    came, students = Counter(s.lesson for s in course.submissions), len(course.students)
    return [one for one in course.lessons if came[one] >= HALF * (students - free[one])]


def _median(course: Course, lesson: str) -> float:
    return median(s.share for s in course.whole(lesson))
