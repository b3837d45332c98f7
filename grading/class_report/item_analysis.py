"""Item analysis by classical test theory: easiness and discrimination.

Easiness is the mean share of an item's points among the students who began the exercise. Discrimination is the
corrected item-total correlation, between a student's share of the item and of the rest of the lesson (Crocker & Algina,
"Introduction to Classical and Modern Test Theory", 1986, chapter 14). It is unreliable for few answers, so it is
computed only for at least `FEWEST`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, mean

from .model import Answer, ClassGrades

FEWEST = 10


@dataclass(frozen=True)
class Item:
    """An exercise, or one of its criteria if `criterion` is set.

    answers         number with a verdict
    begun           share of them that were begun, 0 to 1
    easiness        mean share of the points among those that were begun, 0 to 1; None if there are none
    discrimination  -1 to 1; None if undefined, for example if all earned the same
    """

    lesson: str
    exercise: str
    criterion: str
    answers: int
    begun: float
    easiness: float | None
    discrimination: float | None


def items(grades: ClassGrades) -> Iterator[Item]:
    """Every exercise of the course, each followed by its criteria."""
    for lesson in grades.lessons:
        judged = [a for a in grades.answers if a.lesson == lesson and a.judged]
        totals = _totals(judged)
        for exercise in grades.exercises(lesson):
            found = [a for a in judged if a.exercise == exercise]
            if found:
                whole = [(a.student, a.verdict.earned, a.verdict.points) for a in found if a.begun]
                yield _item((lesson, exercise, ""), found, whole, totals)
                for name in dict.fromkeys(c.name for a in found for c in a.verdict.criteria):
                    yield _item((lesson, exercise, name), found, _criterion(found, name), totals)


def _criterion(found: Sequence[Answer], name: str) -> list[tuple[str, float, float]]:
    begun = (a for a in found if a.begun)
    return [(a.student, c.earned, c.points) for a in begun for c in a.verdict.criteria if c.name == name and c.points]


def _totals(judged: Sequence[Answer]) -> dict[str, tuple[float, float]]:
    """Earned and possible points in the lesson, by student."""
    totals: dict[str, tuple[float, float]] = {}
    for a in judged:
        earned, most = totals.get(a.student, (0.0, 0.0))
        totals[a.student] = earned + a.verdict.earned, most + a.verdict.points
    return totals


def _item(
    names: tuple[str, str, str],
    found: Sequence[Answer],
    earned: Sequence[tuple[str, float, float]],
    totals: dict[str, tuple[float, float]],
) -> Item:
    shares = [points / most for _, points, most in earned]
    rests = [(totals[who][0] - points) / rest for who, points, most in earned if (rest := totals[who][1] - most) > 0]
    return Item(
        *names,
        answers=len(found),
        begun=mean(a.begun for a in found),
        easiness=mean(shares) if shares else None,
        discrimination=_correlation(shares, rests),
    )


def _correlation(shares: Sequence[float], rests: Sequence[float]) -> float | None:
    if len(shares) < FEWEST or len(rests) != len(shares):
        return None
    try:
        return correlation(shares, rests)
    except StatisticsError:  # all earned the same
        return None
