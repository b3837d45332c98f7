"""Answers that are suspiciously alike, for a person to judge: winnowed fingerprints, by copydetect.

Names, comments and layout do not count. What anyone may come to alone does not count either: what the graders know
as an answer, right or wrong, and what more than `COMMON` students share. What is left is what two wrote alike.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from .model import Answer

COMMON = 3  # students; what more of them share is common
TOKENS, WINDOW = 20, 5  # of a fingerprint: tokens' characters in each hash, and hashes of which one is kept
FEWEST = 8  # hashes that two share and few others
LIKE = 0.6  # of the rarer hashes of the shorter of two answers
MAX_SOURCE = 20_000  # characters


@dataclass(frozen=True)
class Pair:
    """Two students whose answers to these exercises are alike; share: of what is rare in them, the most, 0 to 1."""

    students: tuple[str, str]
    lesson: str
    exercises: tuple[str, ...]
    share: float


def pairs(answers: Iterable[Answer], known: Callable[[str, str], Iterable[str]]) -> list[Pair]:
    """Pairs of students by lesson, those with most exercises alike first. known: answers by lesson and exercise."""
    by_exercise: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for a in answers:
        if a.source and a.begun:
            by_exercise[a.lesson, a.exercise].append(a)
    found: dict[tuple[str, tuple[str, str]], dict[str, float]] = defaultdict(dict)
    for (lesson, exercise), those in by_exercise.items():
        for students, share in _alike(those, known(lesson, exercise)):
            found[lesson, students][exercise] = share
    made = [Pair(who, lesson, tuple(shares), max(shares.values())) for (lesson, who), shares in found.items()]
    return sorted(made, key=lambda one: (-len(one.exercises), -one.share, one.lesson, one.students))


def _alike(answers: Sequence[Answer], known: Iterable[str]) -> Iterable[tuple[tuple[str, str], float]]:
    usual = frozenset[int]().union(*map(_fingerprint, known))
    prints = {a.student: _fingerprint(a.source) - usual for a in answers}
    holders = Counter(one for hashes in prints.values() for one in hashes)
    rare = {who: {one for one in hashes if holders[one] <= COMMON} for who, hashes in prints.items()}
    sharing: dict[int, list[str]] = defaultdict(list)
    for who, hashes in rare.items():
        for value in hashes:
            sharing[value].append(who)
    both = Counter(pair for whose in sharing.values() for pair in combinations(sorted(whose), 2))
    for (one, other), count in both.items():
        share = count / min(len(rare[one]), len(rare[other]))
        if count >= FEWEST and share >= LIKE:
            yield (one, other), share


def _fingerprint(source: str) -> frozenset[int]:
    from copydetect import CodeFingerprint  # it brings NumPy, and is wanted for this page alone

    made = CodeFingerprint("answer.py", TOKENS, WINDOW, language="python", fp=io.StringIO(source[:MAX_SOURCE]))
    return frozenset(map(int, made.hashes))
