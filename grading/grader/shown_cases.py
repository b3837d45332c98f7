"""What a page shows of a verdict: practice cases, and no word or number of a hidden case.

A submission chooses what it raises and returns, so a finding about a hidden case could carry the case's inputs to
whoever reads the page. `hide_cases` leaves only closed vocabularies: the stage of the comparison, and the names of
exceptions of Python and torch. (Hints on slips quote no word of the answer's from the start.) `show_cases` then shows,
for each lost criterion, a practice case that fails at the same stage. Practice cases are asked in a kernel that has
been asked no hidden case, so anything may be shown of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from course.harness.forbidden_calls import user_visible_names
from course.harness.messages import Finding
from course.harness.program import Observation
from course.harness.runner import drop_unchanged
from course.harness.slips import slips

from ..exercises.case import describe
from ..exercises.exercise import Exercise
from .references import PreparedCase, judge_case
from .verdict import TABLE, CriterionVerdict, ExerciseVerdict, forbid

UNANSWERED = ("no answer", "not reached")  # stages whose sentences are the judge's own
SENTENCES = {
    "message": "the message of an error does not name the argument and its value or shape",
    "structure": "the result is not built as the exercise asks",
    "type": "the result has the wrong type",
    "shape": "the result has the wrong shape",
    "dtype": "the result has the wrong dtype",
    "device": "the result is on the wrong device",
    "finite": "the result has NaN or an infinite value",
    "values": "the result has wrong values",
    "gradient": "a gradient is missing or wrong",
    "unchanged": "the call changed an argument in place",
}


def hide_cases(verdict: ExerciseVerdict, named: Sequence[str]) -> None:
    """Remove every word of hidden cases. named: the forbidden names in the answer's source."""
    for criterion in verdict.criteria:
        if criterion.status != "right" and criterion.stage not in UNANSWERED:
            criterion.case, criterion.finding = "", f"In a hidden case, {_sentence(criterion)}."
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
    for index, criterion in enumerate(verdict.criteria):
        if criterion.status != "right" and (found := _alike(criterion, index, cases, findings)):
            criterion.case, criterion.finding = describe(found[0].case), found[1].text
    _quote(verdict, seen, findings)
    practised = {p.criterion for p in cases}
    lost = {exercise.criteria[i].name for i, c in enumerate(verdict.criteria) if i in practised and c.status == "wrong"}
    if lost and verdict.status != "not allowed" and not any(findings):
        verdict.signs.append(TABLE)


def _quote(verdict: ExerciseVerdict, seen: Sequence[Observation], findings: Sequence[Finding | None]) -> None:
    """Fill the answer's own words into the hint on a slip, from a practice case with the same hint."""
    hints = (slips(verdict.exercise, seen, findings, quotes=quotes) for quotes in (False, True))
    for closed, quoted in zip(*hints, strict=True):
        if closed and closed in verdict.explanation:
            verdict.explanation = verdict.explanation.replace(closed, quoted)
            return


def _alike(
    criterion: CriterionVerdict, index: int, cases: Sequence[PreparedCase], findings: Sequence[Finding | None]
) -> tuple[PreparedCase, Finding] | None:
    """The criterion's first practice case that fails at the same stage."""
    for prepared, finding in zip(cases, findings, strict=True):
        if prepared.criterion == index and finding is not None and finding.stage == criterion.stage:
            return prepared, finding
    return None


def _sentence(criterion: CriterionVerdict) -> str:
    if criterion.stage != "raised":
        return SENTENCES.get(criterion.stage, "the result is wrong")
    return f"the call raised {criterion.raised}" if criterion.raised else "the call returned and should have raised"
