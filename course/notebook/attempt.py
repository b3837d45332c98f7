"""A checked answer, and the report on it.

Does not cover: running the answer (`check_run`), right functions in place of wrong earlier answers (`check`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from ..check_data import CaseResults, Practice
from ..failing_case import choose_case, failing_case, headline_for, order
from ..harness.descriptions import Description
from ..harness.diagnose import Diagnosis
from ..harness.messages import Finding
from ..harness.sentences import STEP_STAYS, does_not_allow, listed
from ..harness.slips import slips
from ..report import POINTS, STEP, CodeNote, Example, Report, Row, without_repetition
from .check_run import CheckRun
from .raised_lines import WHERE, shorten_description
from .session import Session

NOT_STARTED = "Write it in the cell above, then run this one."
MAX_CASES = 3  # failing cases of one criterion in a report


@dataclass
class Attempt:
    """The calls of an answer with all cases, and their results; no practice cases if it is not started."""

    session: Session
    name: str
    run: CheckRun
    results: CaseResults
    examples: int
    practice: Practice

    @property
    def earned(self) -> float:
        if self.results.used:
            return 0.0
        asked_of = zip(self.practice.criteria, self._groups, strict=True)
        return sum(criterion.points for criterion, cases in asked_of if not self.results.wrong(cases))

    @property
    def rank(self) -> tuple[bool, bool, float]:
        return self.results.right, not self.results.untouched, self.earned

    @property
    def is_attempt(self) -> bool:
        """Whether it is right in something or a known mistake. Of a step, nothing else is replaced, as in the grade."""
        return any(not self.results.wrong(cases) for cases in self._groups) or bool(self._diagnosis.names)

    @property
    def _groups(self) -> list[list[int]]:
        """The practice cases of each criterion."""
        return self.practice.groups(self.examples, self.results.findings)

    @cached_property
    def _diagnosis(self) -> Diagnosis:
        return self.results.diagnose(self.name, self.examples, self.practice)

    def report(self, missing: Sequence[str]) -> Report:
        """The report on this attempt. missing: wrong answers that it calls, in whose place nothing could be put."""
        data, results = self.session.exercise_data(self.name), self.results
        shown = Report(self.name, "wrong", self.earned, float(data["points"]), unit=self.session.unit_of(self.name))
        if kept := [f"`{criterion.name}`" for criterion in self.practice.criteria if criterion.graded_only]:
            shown.details.append(f"The grade has further cases of: {', '.join(kept)}.")
        if results.untouched and not missing:
            return replace(shown, status="not started", headline=NOT_STARTED)
        if results.right:
            return self._passed(shown)
        if results.used:
            headline = does_not_allow(results.used)
            return replace(shown, status="not allowed", details=[], headline=headline)
        shown.rows = self._rows()
        shown.status = "partly right" if self.earned else "wrong"
        shown.output = self.run.prints.as_notes(self.name)
        if self.run.stopped:
            call = results.cases[self.run.stopped_case].text
            notes = ["The calls after it were not tried."]
            return replace(shown, headline=self.run.stopped, example=Example(call), notes=notes, see=data["see"])
        if missing:
            stays = any(self.session.unit_of(name) == STEP for name in missing)
            grade = STEP_STAYS if stays else "The grade uses a right answer in its place."
            return replace(
                shown,
                headline=f"It calls {listed(missing)}, which {'does' if len(missing) == 1 else 'do'} not pass yet.",
                advice=f"Correct that first, then check this again. {grade}",
            )
        return self._failed(shown, data["see"])

    def _passed(self, shown: Report) -> Report:
        shown.rows = self._rows()
        practice = len(self.practice.cases)
        counts = [_count(self.examples, "example"), *([_count(practice, "practice case")] if practice else [])]
        cases = f"{' and '.join(counts)} {'passes' if self.examples + practice == 1 else 'pass'}."
        if shown.unit == POINTS:
            shown.details.insert(0, "The grade draws other numbers.")
        shown.output = self.run.prints.as_notes(self.name)
        headline = " ".join(filter(None, [cases, self.run.prints.in_one_line(self.name)]))
        return replace(shown, status="passes", earned=shown.points, headline=headline)

    def _failed(self, shown: Report, section: str) -> Report:
        mistakes = self.practice.mistakes
        case, diagnosis, described = self._choose_case()
        shown.headline, shown.advice = diagnosis.explain({mistake.name: mistake.text for mistake in mistakes.values()})
        shown.see = (mistakes[diagnosis.names[0]].see if diagnosis.names else "") or section
        error, finding = self.run.errors[case], self._finding(case)
        if described:
            finding = replace(finding, difference=described.differences[case])
        example = self._case(case, finding, error)
        if not shown.headline:
            shown.headline = described.sentences[case] if described else headline_for(finding, example)
        shown.example = without_repetition(example, shown.headline, shown.advice)
        call = self.results.cases[case].text
        shown.example.printed = self.run.prints.of(call)
        shown.rows = self._rows(besides=case)
        shown.output = self.run.prints.as_notes(self.name, besides=call)
        if error and error.replace("\n", "") != example.code.replace("\n", ""):
            shown.output.insert(0, CodeNote(WHERE, error))
        return shown

    def _choose_case(self) -> tuple[int, Diagnosis, Description | None]:
        """See `choose_case`. An example comes before a practice case."""
        results, diagnosis = self.results, self._diagnosis
        failing = {i: self._finding(i) for i in results.wrong(range(len(results.cases)))}
        groups = [*([i] for i in range(self.examples)), *self._groups]
        explains = zip(groups, diagnosis.explains, strict=True) if diagnosis.names else ()
        telling = {i for group, name in explains if name == diagnosis.names[0] for i in group}

        def key(i: int) -> tuple[Any, ...]:
            case = results.cases[i]
            clear = order(case.program, case.reference.native, failing[i], self._shows_values(i))
            return i >= self.examples, *clear, i

        hints = slips(self.name, results.seen, results.findings)
        return choose_case(failing, diagnosis, hints, telling, set(filter(self._shows_values, failing)), key)

    def _finding(self, case: int) -> Finding:
        finding = self.results.findings[case]
        assert finding is not None
        return finding

    def _shows_values(self, case: int) -> bool:
        return case < self.examples or self.results.cases[case].drawn

    def _case(self, number: int, finding: Finding, error: str = "") -> Example:
        case, seen = self.results.cases[number], self.results.seen[number]
        code = shorten_description(error) if error else ""
        return failing_case(case.text, case.program, seen, finding, values=self._shows_values(number), code=code)

    def _rows(self, besides: int = -1) -> list[Row]:
        """Rows for the examples, by name, and for the criteria with practice cases.

        besides  a case that the report shows already
        """
        named = groupby(range(self.examples), lambda i: self.results.cases[i].name)
        rows = [self._row(name, list(cases), besides) for name, cases in named]
        criteria = zip(self.practice.criteria, self._groups, strict=True)
        return rows + [self._row(c.name, cases, besides, c.points) for c, cases in criteria if c.cases]

    def _row(self, name: str, cases: Sequence[int], besides: int, points: float | None = None) -> Row:
        wrong = self.results.wrong(cases)
        earned = f"{0 if wrong else points:g} of {points:g}" if points else ""
        if not wrong:
            return Row(name, "right", earned)
        tried = self.run.stopped_case if self.run.stopped else len(self.results.cases)
        others = [i for i in wrong if i != besides and i < tried]
        shown = [self._case(i, self._finding(i)) for i in others[:MAX_CASES]]
        if len(others) > MAX_CASES:
            shown.append(Example(f"… and {_count(len(others) - MAX_CASES, 'more failing case')}"))
        return Row(name, "wrong", earned, shown)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
