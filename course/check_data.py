"""Check data: running an answer on it and diagnosing the results.

The check data of an exercise are its visible examples and its practice cases: the grade's own criteria, drawn from a
public seed (`grading/authoring/check_data.py`). They hold inputs, correct outcomes, names of checkers and fingerprints
of known mistakes' outcomes, but no solution and no code.

Does not cover: what a report shows of it (`course/notebook/check.py`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .checkers import NamedChecker
from .data_only import ensure_data_only
from .harness.check_case import check_case, coerced
from .harness.compare import Reference
from .harness.diagnose import Diagnosis, MistakeOutcomes, diagnose
from .harness.errors import not_written
from .harness.fingerprints import fingerprint, from_record
from .harness.forbidden_calls import user_visible_names
from .harness.messages import Finding
from .harness.options import Options
from .harness.program import Observation, Program
from .harness.runner import observe, standard_settings
from .harness.serialization import PackingError, unpack
from .harness.slips import slips

ENDING = ".practice"


@dataclass(frozen=True, eq=False)
class Case:
    """One test case.

    name   that of the example, or of the practice case's criterion
    drawn  whether the grade draws other numbers for it, so that its expected value may be shown
    """

    name: str
    text: str
    program: Program
    reference: Reference
    drawn: bool = False

    @cached_property
    def right(self) -> Observation:
        """The fingerprint of a correct outcome."""
        return fingerprint(coerced(self.reference.native, self.reference))


@dataclass(frozen=True, eq=False)
class Criterion:
    """One of the grade's criteria, its points, and the indices of its practice cases.

    graded_only  whether some or all of its graded cases have no practice cases
    unchanged    whether changing an argument in place costs this criterion
    names        whether its cases show which known mistake an answer makes
    """

    name: str
    points: float
    cases: range
    graded_only: bool = False
    unchanged: bool = False
    names: bool = True


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known mistake and its sentence for the learner.

    each  for every value of its constant: the outcomes that differ from a correct answer's, by case, and the failing
          cases
    """

    name: str
    text: str
    see: str
    when: str
    each: Sequence[tuple[Mapping[int, Observation], frozenset[int]]]


@dataclass(frozen=True, eq=False)
class Practice:
    """The practice cases of an exercise, and its known mistakes, packed in `known`."""

    criteria: Sequence[Criterion] = ()
    cases: Sequence[Case] = ()
    known: bytes | None = None

    @cached_property
    def mistakes(self) -> Mapping[str, Mistake]:
        """The known mistakes by name, unpacked at first use. Raises PackingError."""
        return {record["name"]: _mistake_of(record) for record in unpack(self.known)} if self.known else {}

    def groups(self, first: int, findings: Sequence[Finding | None]) -> list[list[int]]:
        """The cases that count for each criterion, if the first practice case has index `first`."""
        own = [[first + i for i in c.cases] for c in self.criteria]
        moved = {i for i in range(first, len(findings)) if (found := findings[i]) and found.stage == "unchanged"}
        for index, criterion in enumerate(self.criteria):
            if criterion.unchanged and criterion.cases:
                own = [[i for i in cases if i not in moved] for cases in own]
                own[index] = sorted({*own[index], *moved})
        return own


def run(case: Case, names: Mapping[str, Any]) -> Observation:
    """Run one case with the learner's `names`."""
    return observe(case.program, names)


@dataclass(eq=False)
class CaseResults:
    """The results of all cases, in order; `run` runs one with the learner's names."""

    run: Callable[[Case, Mapping[str, Any]], Observation] = run
    cases: list[Case] = field(default_factory=list)
    seen: list[Observation] = field(default_factory=list)
    findings: list[Finding | None] = field(default_factory=list)

    @property
    def used(self) -> list[str]:
        return user_visible_names(sorted({name for observation in self.seen for name in observation.used}))

    @property
    def right(self) -> bool:
        return not any(self.findings) and not self.used

    @property
    def untouched(self) -> bool:
        return bool(self.seen) and all(not_written(observation.raised) for observation in self.seen)

    def run_cases(
        self, cases: Iterable[Case], names: Mapping[str, Any], on_progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """Run more cases; after each, call `on_progress` with the number run so far."""
        for case in cases:
            seen = self.run(case, names)
            self.cases.append(case)
            self.seen.append(seen)
            with standard_settings():
                self.findings.append(check_case(seen, case.reference))
            on_progress(len(self.cases))

    def wrong(self, cases: Iterable[int]) -> list[int]:
        """Indices of the failing cases."""
        return [i for i in cases if self.findings[i]]

    def diagnose(self, name: str, examples: int, practice: Practice) -> Diagnosis:
        """Find the known mistakes that explain the results of the answer `name`, as in grading.

        The first cases are the `examples`, each of which counts like a criterion; the others are those of `practice`.
        """
        with standard_settings():
            return self._diagnose(name, examples, practice)

    def _diagnose(self, name: str, examples: int, practice: Practice) -> Diagnosis:
        """As in `grade_exercise`: by the cases that name mistakes, if one of them fails."""
        silent = {examples + i for c in practice.criteria if not c.names for i in c.cases}
        named = [i for i in range(len(self.cases)) if i not in silent]
        is_named = any(self.findings[i] for i in named)
        counted = named if is_named else range(len(self.cases))
        cases, seen = [self.cases[i] for i in counted], [self.seen[i] for i in counted]
        findings = [self.findings[i] for i in counted]
        known = [
            MistakeOutcomes(
                item.name,
                [outcomes.get(i, case.right) for i, case in zip(counted, cases, strict=True)],
                frozenset(n for n, i in enumerate(counted) if i in misses),
                item.when,
            )
            for item in practice.mistakes.values()
            for outcomes, misses in (item.each if is_named else ())
        ]
        sketches = [fingerprint(coerced(item, case.reference)) for item, case in zip(seen, cases, strict=True)]
        place = {i: n for n, i in enumerate(counted)}
        groups = [[i] for i in range(examples)] + practice.groups(examples, self.findings)
        counted_groups = [[place[i] for i in group if i in place] for group in groups]
        return diagnose(sketches, findings, counted_groups, known, slips(name, seen, findings))


def case_of(record: Mapping[str, Any]) -> Case:
    """Build a case from the record that `grading/authoring/check_data.py` writes."""
    reference = Reference(
        Observation(**record["exact"]),
        Observation(**record["native"]),
        Options.from_record(record["options"], NamedChecker),
        record["wrong_arguments"],
        record["input_magnitude"],
        tuple(record["result_names"]),
    )
    return Case(record["name"], record["text"], Program(**record["program"]), reference, record.get("drawn", False))


@cache
def read(path: Path) -> Practice:
    """Read the practice of an exercise. Raises OSError and PackingError."""
    return practice_of(split_packed(path.read_bytes()), path.stem)


def practice_of(packed: Sequence[bytes], exercise: str) -> Practice:
    """Build the practice of an exercise from its packed parts. Raises PackingError."""
    cases_and_criteria, known = packed
    record, criteria, first = unpack(cases_and_criteria), [], 0
    for entry in record["cases"]:
        ensure_data_only(entry["program"], exercise)
    for entry in record["criteria"]:
        cases, kept = range(first, first + entry["cases"]), entry.get("graded_only", False)
        marks = kept, entry.get("unchanged", False), entry.get("names", True)
        criteria.append(Criterion(entry["name"], entry["points"], cases, *marks))
        first += entry["cases"]
    return Practice(criteria, [case_of(entry) for entry in record["cases"]], known)


def split_packed(blob: bytes) -> list[bytes]:
    """Decompress a practice file to packed cases and mistakes. Raises PackingError."""
    parts = []
    try:
        while blob:
            stream = zlib.decompressobj()
            parts.append(stream.decompress(blob))
            blob = stream.unused_data if stream.eof else b""
    except zlib.error as error:
        raise PackingError(f"not a file of practice: {error}") from None
    if len(parts) != 2 or not stream.eof:
        raise PackingError("not a file of practice, or not whole")
    return parts


def _mistake_of(record: Mapping[str, Any]) -> Mistake:
    each = []
    for given in record["each"]:
        outcomes = zip(given["differs"], map(from_record, given["outcomes"]), strict=True)
        each.append((dict(outcomes), frozenset(given["misses"])))
    return Mistake(record["name"], record["text"], record["see"], record["when"], each)
