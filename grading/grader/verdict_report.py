"""A verdict's report: criteria, failing case, mistake, but no expected values."""

from __future__ import annotations

from course.report import Report, Row

from .verdict import ExerciseVerdict


def to_report(verdict: ExerciseVerdict) -> Report:
    rows = []
    for criterion in verdict.criteria:
        details = []
        if criterion.status == "wrong" and verdict.status not in ("not started", "not allowed"):
            details = [f"{criterion.case}\n{criterion.finding}" if criterion.case else criterion.finding]
        elif criterion.status == "not reached" and criterion.finding:
            details = [criterion.finding]
        status = criterion.status if verdict.status != "not started" else "not started"
        earned = "open," if verdict.status == "needs a person" else f"{criterion.earned:g}"
        rows.append(Row(criterion.name, status, f"{earned} of {criterion.points:g}", details))
    notes = list(verdict.notes)
    if verdict.followed_through:
        names = " and ".join(f"`{name}`" for name in verdict.followed_through)
        notes.append(f"Judged with a right {names} in place of yours, so that one mistake costs once.")
    if verdict.grader_error:
        notes.append(f"Not judged yet; a person will look at it: {verdict.grader_error}")
    report = Report(
        verdict.exercise,
        verdict.status,
        verdict.earned,
        verdict.points,
        rows,
        headline=verdict.explanation,
        see=verdict.section if verdict.status not in ("right", "not started") else "",
        notes=notes,
    )
    if not verdict.sandboxed:
        report.footnote = "Graded without the sandbox."
    return report
