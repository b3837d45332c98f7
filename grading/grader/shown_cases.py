"""The part of a verdict that pages show: practice cases, and of hidden ones which criteria they cost.

A submission chooses what it raises and returns, and where: any further word about a hidden case, also at which stage it
failed, could tell a later submission whether a guess was right. `hide_cases` leaves the lost criteria, and the names
of known mistakes, a closed list. `show_cases` then says what the answer does in the practice cases of these criteria.
They are asked in a kernel that has been asked no hidden case, so anything may be shown of them: the smallest is shown
with its expected value, if the grade draws other numbers for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from course.failing_case import choose_case, failing_case, headline_for, order
from course.harness.diagnose import Diagnosis, diagnose
from course.harness.errors import public_type
from course.harness.forbidden_calls import user_visible_names
from course.harness.messages import Finding
from course.harness.program import Observation
from course.harness.runner import drop_unchanged
from course.harness.slips import slips

from ..exercises.case import practice_text
from ..exercises.exercise import Exercise
from .references import PreparedCase, draws_other_numbers, judge_case
from .verdict import TABLE, CriterionVerdict, ExerciseVerdict, forbid

HIDDEN = "A hidden case of this requirement fails."
ONLY_HIDDEN = "A hidden case of this requirement fails; the practice cases pass."


def hide_cases(verdict: ExerciseVerdict, named: Sequence[str]) -> None:
    """Leave one bit of each criterion, and known mistakes. named: the forbidden names in the answer's source."""
    for criterion in verdict.criteria:
        if criterion.status != "right":
            criterion.status, criterion.finding = "wrong", HIDDEN
            criterion.case = criterion.stage = criterion.raised = ""
    if not verdict.mistake:
        verdict.explanation = verdict.advice = ""
    if verdict.status == "not allowed":
        forbid(verdict, named)


def wants_practice(verdict: ExerciseVerdict) -> bool:
    """Whether practice cases may show what is wrong.

    Not for answers that Python cannot read, and not for those graded with a right answer in place of a wrong one: that
    code never goes where its reports are shown.
    """
    if verdict.status not in ("partly right", "wrong", "not allowed") or verdict.followed_through:
        return False
    return all(criterion.status in ("right", "wrong") for criterion in verdict.criteria)


def show_unanswered(verdict: ExerciseVerdict, why: str) -> None:
    """Say why a practice case was not answered: it took too long, or ended the kernel."""
    for criterion in verdict.criteria:
        if criterion.status == "wrong":
            criterion.stage, criterion.finding = "no answer", why


def show_cases(
    verdict: ExerciseVerdict,
    exercise: Exercise,
    cases: Sequence[PreparedCase],
    seen: Sequence[Observation],
    device: str = "cpu",
) -> None:
    """Show practice `cases` of the lost criteria that fail, with what was `seen`."""
    seen = [drop_unchanged(one, p.program(())) for p, one in zip(cases, seen, strict=True)]
    findings = [judge_case(p, one, device) for p, one in zip(cases, seen, strict=True)]
    if verdict.status == "not allowed" and not verdict.not_allowed:
        forbid(verdict, user_visible_names(dict.fromkeys(name for one in seen for name in one.used)))
    failing = [
        (criterion, i)
        for index, criterion in enumerate(verdict.criteria)
        for i, (p, finding) in enumerate(zip(cases, findings, strict=True))
        if criterion.status != "right" and p.criterion == index and finding
    ]
    for criterion, i in reversed(failing):  # the first case of each criterion is shown in its row
        finding = findings[i]
        assert finding is not None
        criterion.case, criterion.stage = practice_text(cases[i].case, draws_other_numbers(exercise)[i]), finding.stage
        criterion.finding, criterion.raised = finding.text, public_type(seen[i].raised)
    if failing and verdict.status != "not allowed":
        _show_clearest(verdict, exercise, cases, seen, findings, {i: criterion for criterion, i in failing})
    practised = {p.criterion for p in cases}
    only_hidden = [c for i, c in enumerate(verdict.criteria) if i in practised and c.finding == HIDDEN]
    for criterion in only_hidden:
        criterion.finding = ONLY_HIDDEN
    if only_hidden and verdict.status != "not allowed" and not any(findings):
        verdict.signs.append(TABLE)


def _show_clearest(
    verdict: ExerciseVerdict,
    exercise: Exercise,
    cases: Sequence[PreparedCase],
    seen: Sequence[Observation],
    findings: Sequence[Finding | None],
    criteria: Mapping[int, CriterionVerdict],
) -> None:
    """Show the practice case that is easiest to follow, of a criterion that the mistake explains if there is one.

    Says what is wrong there, unless the verdict has an explanation.

    criteria  the criterion of each failing case, by its index
    """
    other_numbers, hints = draws_other_numbers(exercise), slips(verdict.exercise, seen, findings)
    failing = {i: finding for i, finding in enumerate(findings) if finding and i in criteria}
    telling = {i for i, criterion in criteria.items() if criterion.mistake == verdict.mistake}

    def key(i: int) -> tuple[Any, ...]:
        p = cases[i]
        return *order(p.program(()), p.reference.native, failing[i], other_numbers[i]), i

    if verdict.explanation:
        diagnosis = Diagnosis((verdict.mistake,))
    else:
        groups = [[i for i, p in enumerate(cases) if p.costs(findings[i]) == c] for c in range(len(verdict.criteria))]
        diagnosis = diagnose(seen, findings, groups, (), hints)
    shown = {i for i in failing if other_numbers[i]}
    chosen, diagnosis, described = choose_case(failing, diagnosis, hints, telling, shown, key)
    p, finding = cases[chosen], failing[chosen]
    if described:
        finding = replace(finding, difference=described.differences[chosen])
    call = practice_text(p.case, other_numbers[chosen])
    example = failing_case(call, p.program(()), seen[chosen], finding, values=other_numbers[chosen])
    if not verdict.explanation:
        verdict.explanation, verdict.advice = diagnosis.explain({})
    if not verdict.explanation:
        verdict.explanation = described.sentences[chosen] if described else headline_for(finding, example)
    verdict.example = asdict(example)
