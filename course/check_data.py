"""Asks an answer what the course's data asks of it, and what known mistakes explain.

The data of an exercise are its visible examples and its *practice cases*: the grade's own criteria, drawn from a seed
that everybody knows (`grading/authoring/check_data.py`). No solution is among them: inputs, right outcomes, names of
the names of checkers, and sketches of what known mistakes give.

Does not cover: what is shown of it (`notebook/check.py`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .checkers import NamedChecker
from .harness.check_case import check_case, coerced
from .harness.compare import Finding, Reference
from .harness.diagnose import Diagnosis, MistakeOutcomes, diagnose
from .harness.errors import not_written
from .harness.fingerprints import fingerprint, from_record
from .harness.forbidden_calls import user_visible_names
from .harness.program import Observation, Program
from .harness.runner import observe
from .harness.serialization import PackingError, unpack
from .harness.tolerance import Tolerance

ENDING = ".practice"


@dataclass(frozen=True, eq=False)
class Case:
    """What is asked once. `name`: the example's, or the criterion's that a practice case belongs to."""

    name: str
    text: str
    program: Program
    reference: Reference

    @cached_property
    def right(self) -> Observation:
        """The sketch of a right outcome."""
        return fingerprint(coerced(self.reference.native, self.reference))


@dataclass(frozen=True, eq=False)
class Criterion:
    """One of the grade's criteria, its points, and its practice cases by number."""

    name: str
    points: float
    cases: range


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known mistake: what the learner is told; and, once for each value of its constant, what it gives wherever that
    is not what a right answer gives, and the cases that it misses."""

    name: str
    text: str
    see: str
    when: str
    each: Sequence[tuple[Mapping[int, Observation], frozenset[int]]]


@dataclass(frozen=True, eq=False)
class Practice:
    """The practice cases of an exercise, and its known mistakes, which are numbered over examples and cases.

    known   the mistakes as they were packed: opening them takes longer than all else, and only a wrong answer needs it
    """

    criteria: Sequence[Criterion] = ()
    cases: Sequence[Case] = ()
    known: bytes | None = None

    @cached_property
    def mistakes(self) -> Mapping[str, Mistake]:
        """By name. Raises PackingError."""
        return {one["name"]: _mistake(one) for one in unpack(self.known)} if self.known else {}

    def groups(self, first: int) -> list[range]:
        """The cases of each criterion, where the first practice case has this number."""
        return [range(first + c.cases.start, first + c.cases.stop) for c in self.criteria]


def run(case: Case, names: Mapping[str, Any]) -> Observation:
    """What the learner's `names` give in one case."""
    return observe(case.program, names)


@dataclass(eq=False)
class CaseResults:
    """What came of every case, in order. `used`: what is not allowed. `run`: runs a case with the learner's names."""

    run: Callable[[Case, Mapping[str, Any]], Observation] = run
    cases: list[Case] = field(default_factory=list)
    seen: list[Observation] = field(default_factory=list)
    findings: list[Finding | None] = field(default_factory=list)

    @property
    def used(self) -> list[str]:
        return user_visible_names(sorted({name for one in self.seen for name in one.used}))

    @property
    def right(self) -> bool:
        return not any(self.findings) and not self.used

    @property
    def untouched(self) -> bool:
        return all(not_written(one.raised) for one in self.seen)

    def run_cases(
        self, cases: Iterable[Case], names: Mapping[str, Any], told: Callable[[int], None] = lambda _: None
    ) -> None:
        """Run these cases, too. told: called after each with the number of cases that have been run."""
        for case in cases:
            seen = self.run(case, names)
            self.cases.append(case)
            self.seen.append(seen)
            self.findings.append(check_case(seen, case.reference))
            told(len(self.cases))

    def wrong(self, cases: Iterable[int]) -> list[int]:
        """Those of these cases, by number, that are wrong."""
        return [i for i in cases if self.findings[i]]

    def text(self, case: int) -> str:
        """What is wrong with this case, in words."""
        finding = self.findings[case]
        return finding.text if finding else ""

    def diagnose(self, examples: int, practice: Practice) -> Diagnosis:
        """What known mistakes explain, as in grading; of the cases the first are so many examples, each of which counts
        like a criterion, and the others those of `practice`."""
        right = [case.right for case in self.cases]
        known = [
            MistakeOutcomes(one.name, [outcomes.get(i, right[i]) for i in range(len(right))], misses, one.when)
            for one in practice.mistakes.values()
            for outcomes, misses in one.each
        ]
        seen = [fingerprint(coerced(one, case.reference)) for one, case in zip(self.seen, self.cases, strict=True)]
        return diagnose(seen, self.findings, [*([i] for i in range(examples)), *practice.groups(examples)], known)


def case_of(record: Mapping[str, Any]) -> Case:
    """A case from its data, as `grading/authoring/check_data.py` writes it."""
    reference = Reference(
        Observation(**record["exact"]),
        Observation(**record["native"]),
        record["undefined"],
        Tolerance(*record["tolerance"]) if record["tolerance"] else None,
        record["wrong"],
        record["pure"],
        frozenset(record["mutates"]),
        record["form"],
        record["size"],
        NamedChecker(*record["holds"]) if record["holds"] else None,
        record["accepts"],
        record["elsewhere"],
        tuple(record.get("parts", ())),
    )
    return Case(record["name"], record["text"], Program(**record["program"]), reference)


@cache
def read(path: Path) -> Practice:
    """The practice of an exercise. Raises OSError and PackingError, see `parts`."""
    return practice_of(split_packed(path.read_bytes()))


def practice_of(packed: Sequence[bytes]) -> Practice:
    """The practice of an exercise from its parts, as `grading/authoring/check_data.py` packs them."""
    asked, known = packed
    record, criteria, first = unpack(asked), [], 0
    for one in record["criteria"]:
        criteria.append(Criterion(one["name"], one["points"], range(first, first + one["cases"])))
        first += one["cases"]
    return Practice(criteria, [case_of(one) for one in record["cases"]], known)


def split_packed(blob: bytes) -> list[bytes]:
    """The two parts of a file of practice, packed: what is asked, and what known mistakes give. Raises PackingError
    where it is none, or not whole."""
    found = []
    try:
        while blob:
            stream = zlib.decompressobj()
            found.append(stream.decompress(blob))
            blob = stream.unused_data if stream.eof else b""
    except zlib.error as error:
        raise PackingError(f"not a file of practice: {error}") from None
    if len(found) != 2 or not stream.eof:
        raise PackingError("not a file of practice, or not whole")
    return found


def _mistake(record: Mapping[str, Any]) -> Mistake:
    each = []
    for given in record["each"]:
        outcomes = zip(given["differs"], map(from_record, given["outcomes"]), strict=True)
        each.append((dict(outcomes), frozenset(given["misses"])))
    return Mistake(record["name"], record["text"], record["see"], record["when"], each)
