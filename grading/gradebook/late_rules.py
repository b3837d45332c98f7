"""The points that a late submission loses, and the reason on the feedback page.

The plugin in `c.AssignLatePenalties.plugin_class` is the late policy itself (`nbgrader_plugins.late_policy`).
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from nbgrader.api import Base, Gradebook, SubmittedAssignment
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Column, String, Text

MINUTE = 60.0


class LateReasonRow(Base):
    """How late a submitted notebook was, and the rule; no row if it was in time."""

    __tablename__ = "attention_late"

    notebook_id = Column(String(32), primary_key=True)
    why = Column(Text, nullable=False)


def penalty(penalties: AssignLatePenalties, student: str, score: float, seconds_late: float) -> float | None:
    """Points to take off, from 0 to `score`, as AssignLatePenalties computes them."""
    if seconds_late <= 0:
        return None
    penalties.init_plugin()
    found = penalties.plugin_inst.late_submission_penalty(student, score, seconds_late)
    return None if found is None else min(max(float(found), 0.0), float(score))


def reason(penalties: AssignLatePenalties, submission: SubmittedAssignment) -> str:
    """How late a submission was and what the rule takes off, in one or two sentences."""
    extension = f", with an extension of {in_words(submission.extension)}" if submission.extension else ""
    by = in_words(timedelta(seconds=submission.total_seconds_late))
    penalties.init_plugin()
    rule = getattr(penalties.plugin_inst, "in_words", str)()
    due = f"{shown(submission.assignment.duedate)}{extension}"
    return f"It was handed in {by} after the due date ({due}){(f': {rule}' if rule else '')}."


def write_reason(gradebook: Gradebook, notebook: str, why: str) -> None:
    """Store how late a submitted notebook was.

    notebook  its id
    why       "" if it was in time

    The caller ends the transaction.
    """
    if why:
        gradebook.db.merge(LateReasonRow(notebook_id=notebook, why=why))
    else:
        gradebook.db.query(LateReasonRow).filter(LateReasonRow.notebook_id == notebook).delete()


def reason_kept(gradebook: Gradebook, notebook: str) -> str:
    row = gradebook.db.get(LateReasonRow, notebook)
    return "" if row is None else str(row.why)


def in_words(time: timedelta) -> str:
    """The two largest units of a duration, such as "1 day 3 hours"."""
    minutes = max(1, math.ceil(time.total_seconds() / MINUTE))
    amounts = zip((minutes // 1440, minutes // 60 % 24, minutes % 60), ("day", "hour", "minute"), strict=True)
    return " ".join([f"{n} {unit}{'s' * (n != 1)}" for n, unit in amounts if n][:2])


def shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"
