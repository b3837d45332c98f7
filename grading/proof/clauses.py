"""The ledger of clauses: whether every clause of a contract is tried by a case, and claimed.

In docs/contracts each sentence that demands or permits something has an id, in an invisible comment behind the clause:
`… as Python compares tuples <!-- ties -->`. The clauses of an exercise are those of its row. Those of the prose beside
the rows hold for the whole lesson, and those of the README's conventions for all lessons. A case says which it tries
(`Case.tries`); a known mistake claims the one that it breaks, and a right answer the permission that it uses.

A row's first clause is what a case tries that says nothing: what breaks it breaks everything, so nobody claims it. A
page without an id has no ledger.

Does not cover: whether claims are true (`prover.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..exercises.exercise import Exercise
from ..exercises.lesson import load_lesson

CLAUSE = re.compile(r"<!-- (\w+) -->")
ROW = re.compile(r"^\| `(\w+)\(")
CONTRACTS = Path("docs", "contracts")
STEPS = "## Exercises without points"


@dataclass
class Page:
    """Ids of clauses: of each exercise's row, of the prose beside the rows, and of the conventions."""

    rows: dict[str, list[str]] = field(default_factory=dict)
    prose: list[str] = field(default_factory=list)
    conventions: list[str] = field(default_factory=list)


def page_of(root: Path, lesson: str) -> Path:
    return root / CONTRACTS / f"{lesson[:2]}.md"


def read_page(root: Path, lesson: str) -> Page | None:
    """The clauses of a lesson's contract; None if the course has none, or none with an id."""
    path = page_of(root, lesson)
    if not path.is_file() or not CLAUSE.search(text := path.read_text(encoding="utf-8")):
        return None
    page = Page(conventions=CLAUSE.findall((path.parent / "README.md").read_text(encoding="utf-8")))
    for line in text.partition(STEPS)[0].splitlines():
        row = ROW.match(line)
        (page.rows.setdefault(row[1], []) if row else page.prose).extend(CLAUSE.findall(line))
    return page


def open_clauses(root: Path, lesson: str, seed: int = 0) -> Iterator[tuple[str, str]]:
    """What is missing in a lesson's ledger: an exercise, or "" for the lesson, and a sentence."""
    page = read_page(root, lesson)
    if page is None:
        return
    exercises = load_lesson(root / "grader_tests" / lesson).exercises
    of_lesson = Claims()
    for name, exercise in exercises.items():
        row, here = page.rows.get(name, []), claims_of(exercise, seed)
        if not row:
            yield name, "its row has no clause, so that its cases try none"
        for clause in sorted((here.tried | here.broken | here.used) - {*row, *page.prose, *page.conventions}):
            yield name, f"the contract has no clause {clause}"
        for clause in row[1:]:
            yield from ((name, fault) for fault in here.faults(clause))
        of_lesson = of_lesson + here
    for clause in (*page.prose, *(clause for clause in page.conventions if clause in of_lesson.tried)):
        yield from (("", fault) for fault in of_lesson.faults(clause))


@dataclass
class Claims:
    """Ids of clauses that cases try, that known mistakes break, and that right answers use."""

    tried: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def __add__(self, other: Claims) -> Claims:
        return Claims(self.tried | other.tried, self.broken | other.broken, self.used | other.used)

    def faults(self, clause: str) -> Iterator[str]:
        """What is missing of a clause, which is a demand that is tried and broken, or a permission that is used."""
        if clause in self.used:
            return
        if clause not in self.tried:
            yield f"no case tries the clause {clause}, and no right answer uses it"
        elif clause not in self.broken:
            yield f"no known mistake claims the clause {clause}"


def claims_of(exercise: Exercise, seed: int) -> Claims:
    cases = [case for _, drawn in exercise.cases(seed) for case in drawn]
    broken, used = ({one.clause for one in some} - {""} for some in (exercise.mistakes, exercise.alternatives))
    return Claims({clause for case in cases for clause in case.clauses}, broken, used)
