"""What went wrong, by frequency: known mistakes, and answers that do alike and whose mistake has no name yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .model import Answer

LOST = ("partly right", "wrong")
FEWEST = 2  # answers that do alike and are told


@dataclass(frozen=True)
class Named:
    """A known mistake of `count` students. likely: of how many more it is only said to be likely.

    example  the shortest answer that made it, with no word of whose it is; "" where none is at hand
    """

    lesson: str
    exercise: str
    name: str
    see: str
    count: int
    likely: int
    example: str


@dataclass(frozen=True)
class Unnamed:
    """Answers of `count` students that lose the same criteria, at the same step of the comparison, without a name."""

    lesson: str
    exercise: str
    criteria: tuple[str, ...]
    finding: str
    count: int
    example: str


def named(answers: Iterable[Answer]) -> list[Named]:
    """Every known mistake that was made, the most frequent first. Of two at once each counts."""
    made: dict[tuple[str, str, str], list[Answer]] = defaultdict(list)
    for a in answers:
        for name in filter(None, (a.verdict.mistake, a.verdict.also)):
            made[a.lesson, a.exercise, name].append(a)
    found = [_named(key, those) for key, those in made.items()]
    return sorted((one for one in found if one.count), key=lambda one: (-one.count, one.lesson, one.exercise, one.name))


def _named(key: tuple[str, str, str], those: list[Answer]) -> Named:
    sure = [a for a in those if a.verdict.sure]
    alone = [a for a in sure if not a.verdict.also]
    first = those[0].verdict
    see = first.see if first.mistake == key[2] else first.also_see
    return Named(*key, see, len(sure), len(those) - len(sure), _shortest(alone))


@dataclass(frozen=True)
class Idea:
    """Known mistakes of one family: `count` answers of `students` students had one, in these exercises."""

    family: str
    students: int
    count: int
    exercises: tuple[str, ...]


def by_family(answers: Iterable[Answer]) -> list[Idea]:
    """Every family of mistakes that were made for sure, the one of most students first."""
    made: dict[str, list[Answer]] = defaultdict(list)
    for a in answers:
        for family in {a.verdict.family, a.verdict.also_family} - {""} if a.verdict.sure else ():
            made[family].append(a)
    found = [
        Idea(family, len({a.student for a in those}), len(those), tuple(dict.fromkeys(a.exercise for a in those)))
        for family, those in made.items()
    ]
    return sorted(found, key=lambda one: (-one.students, -one.count, one.family))


def unnamed(answers: Iterable[Answer]) -> list[Unnamed]:
    """Groups of answers that lose points alike and have no name: candidates for one. The largest first."""
    alike: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Answer]] = defaultdict(list)
    for a in answers:
        if a.verdict.status in LOST and not a.verdict.named:
            lost = tuple((c.name, c.rung) for c in a.verdict.criteria if c.status == "wrong")
            alike[a.lesson, a.exercise, lost].append(a)
    found = [
        Unnamed(lesson, exercise, tuple(name for name, _ in lost), _first_finding(those), len(those), _shortest(those))
        for (lesson, exercise, lost), those in alike.items()
        if lost and len(those) >= FEWEST
    ]
    return sorted(found, key=lambda one: (-one.count, one.lesson, one.exercise, one.criteria))


def _first_finding(those: Sequence[Answer]) -> str:
    return next((c.finding for a in those for c in a.verdict.criteria if c.finding), "")


def _shortest(those: Sequence[Answer]) -> str:
    return min((a.source for a in those if a.source), key=lambda text: (len(text), text), default="")
