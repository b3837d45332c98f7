"""Suspiciously similar answers, for a person to review: winnowing by copydetect.

Ignores names, comments and layout. Also ignores code that anyone may write: known answers, right or wrong, and code
that more than `COMMON` students share.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from .model import Answer

COMMON = 3  # students; code that more of them share is common
TOKENS, WINDOW = 20, 5  # characters of tokens per hash, and hashes per window, of which one is kept
FEWEST = 8  # rare hashes that two answers must share
LIKE = 0.6  # share of the rare hashes in the answer that has fewer of them
MAX_SOURCE = 20_000  # characters


@dataclass(frozen=True)
class Pair:
    """Two students with similar answers to these exercises.

    `share`: the largest share of rare code among them, 0 to 1.
    """

    students: tuple[str, str]
    lesson: str
    exercises: tuple[str, ...]
    share: float


def pairs(answers: Iterable[Answer], known: Callable[[str, str], Iterable[str]]) -> list[Pair]:
    """Pairs of students by lesson, most similar exercises first.

    `known`: returns the known answers of a lesson and exercise.
    """
    by_exercise: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for a in answers:
        if a.source and a.begun:
            by_exercise[a.lesson, a.exercise].append(a)
    found: dict[tuple[str, tuple[str, str]], dict[str, float]] = defaultdict(dict)
    for (lesson, exercise), group in by_exercise.items():
        for students, share in _similar_pairs(group, known(lesson, exercise)):
            found[lesson, students][exercise] = share
    pairs_found = [Pair(who, lesson, tuple(shares), max(shares.values())) for (lesson, who), shares in found.items()]
    return sorted(pairs_found, key=lambda pair: (-len(pair.exercises), -pair.share, pair.lesson, pair.students))


def _similar_pairs(answers: Sequence[Answer], known: Iterable[str]) -> Iterable[tuple[tuple[str, str], float]]:
    common = frozenset[int]().union(*map(_fingerprint, known))
    prints = {a.student: _fingerprint(a.source) - common for a in answers}
    holders = Counter(value for hashes in prints.values() for value in hashes)
    rare = {who: {value for value in hashes if holders[value] <= COMMON} for who, hashes in prints.items()}
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
    from copydetect import CodeFingerprint  # imports NumPy; only this page needs it

    made = CodeFingerprint("answer.py", TOKENS, WINDOW, language="python", fp=io.StringIO(source[:MAX_SOURCE]))
    return frozenset(map(int, made.hashes))
