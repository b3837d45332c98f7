"""Frequent mistakes: known ones, and groups of similar unexplained answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .model import Answer

LOST = ("partly right", "wrong")
FEWEST = 2  # similar answers that make a group


@dataclass(frozen=True)
class Named:
    """A known mistake of `count` students; `likely` more students may have it.

    example  the shortest answer with it, without the student's name; "" if none is available
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
    """Answers of `count` students that lose the same criteria at the same stages.

    No known mistake explains them.
    """

    lesson: str
    exercise: str
    criteria: tuple[str, ...]
    finding: str
    count: int
    example: str


def named(answers: Iterable[Answer]) -> list[Named]:
    """All known mistakes in the answers, most frequent first.

    If an answer has two mistakes, both count.
    """
    by_name: dict[tuple[str, str, str], list[Answer]] = defaultdict(list)
    for a in answers:
        for name in filter(None, (a.verdict.mistake, a.verdict.second_mistake)):
            by_name[a.lesson, a.exercise, name].append(a)
    found = [_summarize(key, group) for key, group in by_name.items()]
    return sorted((row for row in found if row.count), key=lambda row: (-row.count, row.lesson, row.exercise, row.name))


def _summarize(key: tuple[str, str, str], answers: list[Answer]) -> Named:
    sure = [a for a in answers if a.verdict.certain]
    alone = [a for a in sure if not a.verdict.second_mistake]
    first = answers[0].verdict
    see = first.section if first.mistake == key[2] else first.second_section
    return Named(*key, see, len(sure), len(answers) - len(sure), _shortest(alone))


@dataclass(frozen=True)
class Idea:
    """One family of known mistakes, with its number of students and answers."""

    family: str
    students: int
    count: int
    exercises: tuple[str, ...]


def by_family(answers: Iterable[Answer]) -> list[Idea]:
    """Families of known mistakes in the answers, most students first.

    Uncertain diagnoses do not count.
    """
    made: dict[str, list[Answer]] = defaultdict(list)
    for a in answers:
        for family in {a.verdict.family, a.verdict.second_family} - {""} if a.verdict.certain else ():
            made[family].append(a)
    found = [
        Idea(family, len({a.student for a in group}), len(group), tuple(dict.fromkeys(a.exercise for a in group)))
        for family, group in made.items()
    ]
    return sorted(found, key=lambda row: (-row.students, -row.count, row.family))


def unnamed(answers: Iterable[Answer]) -> list[Unnamed]:
    """Groups of unexplained answers that lose the same points, largest first."""
    alike: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Answer]] = defaultdict(list)
    for a in answers:
        if a.verdict.status in LOST and not a.verdict.mistake_names:
            lost = tuple((c.name, c.stage) for c in a.verdict.criteria if c.status == "wrong")
            alike[a.lesson, a.exercise, lost].append(a)
    found = [
        Unnamed(lesson, exercise, tuple(name for name, _ in lost), _first_finding(group), len(group), _shortest(group))
        for (lesson, exercise, lost), group in alike.items()
        if lost and len(group) >= FEWEST
    ]
    return sorted(found, key=lambda row: (-row.count, row.lesson, row.exercise, row.criteria))


def _first_finding(answers: Sequence[Answer]) -> str:
    return next((c.finding for a in answers for c in a.verdict.criteria if c.finding), "")


def _shortest(answers: Sequence[Answer]) -> str:
    return min((a.source for a in answers if a.source), key=lambda text: (len(text), text), default="")
