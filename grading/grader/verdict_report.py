"""The report on a verdict. It shows no hidden case, since a stored verdict has none (`shown_cases`)."""

from __future__ import annotations

from course.harness.sentences import as_sentence, listed, split_sentence
from course.report import Example, Report, Row, without_repetition

from .verdict import CriterionVerdict, ExerciseVerdict

SILENT = ("right", "not started", "not allowed")  # statuses with which no section is named


def to_report(verdict: ExerciseVerdict) -> Report:
    headline, advice = headline_and_advice(verdict)
    report = Report(
        verdict.exercise,
        verdict.status,
        verdict.earned,
        verdict.points,
        headline,
        advice=advice,
        see=verdict.section if verdict.status not in SILENT else "",
        notes=list(verdict.notes),
        rows=[] if verdict.status in ("not allowed", "not started") else [_row(c, verdict) for c in verdict.criteria],
    )
    if example := _example(verdict):
        report.example = without_repetition(example, headline, advice)
    if verdict.followed_through:
        right = listed(verdict.followed_through)
        report.notes.append(f"Graded with a right {right} in place of yours, so that one mistake costs once.")
    if not verdict.sandboxed:
        report.details.append("Graded without the sandbox.")
    return report


def headline_and_advice(verdict: ExerciseVerdict) -> tuple[str, str]:
    """The headline and the advice of a verdict; "" for none."""
    if verdict.grader_error:
        return f"A person will grade this answer: {verdict.grader_error}", ""
    if verdict.explanation:
        if verdict.advice or verdict.explanation.startswith("(1) "):
            return verdict.explanation, verdict.advice
        return split_sentence(verdict.explanation)
    if verdict.status not in ("partly right", "wrong"):
        return "", ""
    return next((as_sentence(c.finding) for c in _lost(verdict) if c.finding), ""), verdict.advice


def _example(verdict: ExerciseVerdict) -> Example | None:
    if verdict.status not in ("partly right", "wrong"):
        return None
    if verdict.example:
        return Example.from_json(verdict.example)
    return next((Example(c.case, c.finding) for c in _lost(verdict) if c.case), None)


def _lost(verdict: ExerciseVerdict) -> list[CriterionVerdict]:
    return [criterion for criterion in verdict.criteria if criterion.status != "right"]


def _row(criterion: CriterionVerdict, verdict: ExerciseVerdict) -> Row:
    earned = "open," if verdict.status == "needs a person" else f"{criterion.earned:g}"
    points = f"{earned} of {criterion.points:g}"
    case = Example(criterion.case, criterion.finding) if criterion.case else Example(criterion.finding)
    shown = criterion.status != "right" and bool(criterion.finding)
    return Row(criterion.name, criterion.status, points, [case] if shown else [])
