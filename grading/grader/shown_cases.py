"""The part of a verdict that pages show: practice cases, but no word or number of a hidden case.

A submission chooses what it raises and returns, so a finding about a hidden case could carry the case's inputs to
whoever reads the page. `hide_cases` leaves only closed vocabularies: the stage of the comparison, and the names of
exceptions of Python and torch. (Hints on slips quote no word of the answer's from the start.) `show_cases` then shows,
for each lost criterion, a practice case that fails at the same stage. Practice cases are asked in a kernel that has
been asked no hidden case, so anything may be shown of them: the smallest is shown with its expected value, if the grade
draws other numbers for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict

from course.failing_case import failing_case, headline_for, size
from course.harness.diagnose import Diagnosis
from course.harness.forbidden_calls import user_visible_names
from course.harness.messages import Finding
from course.harness.program import Observation
from course.harness.runner import drop_unchanged
from course.harness.sentences import general
from course.harness.slips import slips

from ..exercises.case import practice_text
from ..exercises.exercise import Exercise
from .references import PreparedCase, drawn, judge_case
from .verdict import TABLE, CriterionVerdict, ExerciseVerdict, forbid

UNANSWERED = ("no answer", "not reached")  # stages whose sentences are the judge's own


def hide_cases(verdict: ExerciseVerdict, named: Sequence[str]) -> None:
    """Remove every word of hidden cases. named: the forbidden names in the answer's source."""
    for criterion in verdict.criteria:
        if criterion.status != "right" and criterion.stage not in UNANSWERED:
            criterion.case, criterion.finding = "", f"In a hidden case, {general(criterion.stage, criterion.raised)}."
    if verdict.status == "not allowed":
        forbid(verdict, named)


def wants_practice(verdict: ExerciseVerdict) -> bool:
    """Whether practice cases may show what is wrong.

    Not for answers that end the kernel or take too long, which practice cases would only repeat, and not for those
    graded with a right answer in place of a wrong one: that code never goes where its reports are shown.
    """
    if verdict.status not in ("partly right", "wrong", "not allowed") or verdict.followed_through:
        return False
    lost = [criterion for criterion in verdict.criteria if criterion.status != "right"]
    return all(criterion.stage not in ("", *UNANSWERED) for criterion in lost)


def show_cases(
    verdict: ExerciseVerdict,
    exercise: Exercise,
    cases: Sequence[PreparedCase],
    seen: Sequence[Observation],
    device: str = "cpu",
) -> None:
    """Show practice `cases`, with what was `seen`, that fail at the stages of the hidden ones."""
    seen = [drop_unchanged(one, p.program(())) for p, one in zip(cases, seen, strict=True)]
    findings = [judge_case(p, one, device) for p, one in zip(cases, seen, strict=True)]
    if verdict.status == "not allowed" and not verdict.not_allowed:
        forbid(verdict, user_visible_names(dict.fromkeys(name for one in seen for name in one.used)))
    alike = list(_alike(verdict, cases, findings))
    for criterion, case in reversed(alike):  # the first case of each criterion is shown in its row
        finding = findings[case]
        criterion.case = practice_text(cases[case].case, drawn(exercise)[case])
        criterion.finding = finding.text if finding else ""
    told = _quote(verdict, seen, findings)
    if alike and verdict.status != "not allowed":
        _show_smallest(verdict, exercise, cases, seen, findings, alike, told)
    practised = {p.criterion for p in cases}
    lost = {exercise.criteria[i].name for i, c in enumerate(verdict.criteria) if i in practised and c.status == "wrong"}
    if lost and verdict.status != "not allowed" and not any(findings):
        verdict.signs.append(TABLE)


def _quote(verdict: ExerciseVerdict, seen: Sequence[Observation], findings: Sequence[Finding | None]) -> set[int]:
    """Fill the answer's own words into the hint on a slip, from a practice case with the same hint.

    Returns the cases that the slip explains, if it explains only a minority of what is wrong.
    """
    closed, quoted = (slips(verdict.exercise, seen, findings, quotes=quotes) for quotes in (False, True))
    for sure in (True, False):
        told = verdict.explanation, verdict.advice
        same = [i for i, slip in enumerate(closed) if slip and Diagnosis(sure=sure, slip=slip).explain({}) == told]
        if same:
            verdict.explanation, verdict.advice = Diagnosis(sure=sure, slip=quoted[same[0]]).explain({})
            return set() if sure else set(same)
    return set()


def _alike(
    verdict: ExerciseVerdict, cases: Sequence[PreparedCase], findings: Sequence[Finding | None]
) -> Iterator[tuple[CriterionVerdict, int]]:
    """Each lost criterion with each of its practice cases that fail at the same stage."""
    for index, criterion in enumerate(verdict.criteria):
        for i, (prepared, finding) in enumerate(zip(cases, findings, strict=True)):
            lost = criterion.status != "right" and prepared.criterion == index
            if lost and finding and finding.stage == criterion.stage:
                yield criterion, i


def _show_smallest(
    verdict: ExerciseVerdict,
    exercise: Exercise,
    cases: Sequence[PreparedCase],
    seen: Sequence[Observation],
    findings: Sequence[Finding | None],
    alike: Sequence[tuple[CriterionVerdict, int]],
    told: Collection[int],
) -> None:
    """Show the smallest practice case, of a criterion that the mistake explains if there is one.

    told  cases that the advice explains, but not the headline: the last to show
    """
    other_numbers = drawn(exercise)

    def order(found: tuple[CriterionVerdict, int]) -> tuple[bool, bool, bool, bool, int, int]:
        criterion, i = found
        p = cases[i]
        explained = not verdict.mistake or criterion.mistake == verdict.mistake
        small = size(p.program(()), p.reference.native)
        return i in told, not explained, not other_numbers[i], criterion.stage == "finite", small, i

    _, chosen = min(alike, key=order)
    p, finding = cases[chosen], findings[chosen]
    assert finding is not None
    call = practice_text(p.case, other_numbers[chosen])
    example = failing_case(call, p.program(()), seen[chosen], finding, values=other_numbers[chosen])
    verdict.explanation = verdict.explanation or headline_for(finding, example)
    verdict.example = asdict(example)
