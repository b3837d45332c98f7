"""The points that a late submission loses, and the reason on the feedback page.

The plugin in `c.AssignLatePenalties.plugin_class` is the late policy itself (`nbgrader_plugins.late_policy`).
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from nbgrader.api import Base, Gradebook, SubmittedAssignment
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Column, String, Text

from ..course_dir.course_time import by_the_clock, shown, zone_of

MINUTE = 60.0


class LateReasonRow(Base):
    """How late a submitted notebook was, and the rule; no row if it was in time."""

    __tablename__ = "attention_late"

    notebook_id = Column(String(32), primary_key=True)
    why = Column(Text, nullable=False)


def is_late(due: datetime | None, came: datetime | None) -> bool:
    """Whether a submission came after its due date. None: unknown, or there is none."""
    return due is not None and came is not None and came > due


def penalty(
    penalties: AssignLatePenalties, student: str, score: float, due: datetime | None, came: datetime | None
) -> float | None:
    """Points to take off, from 0 to `score`, as AssignLatePenalties computes them. `due`: with an extension.

    Our own plugin counts days of the calendar in the course's time zone; nbgrader's plugins know seconds only.
    """
    if due is None or came is None or not is_late(due, came):
        return None
    penalties.init_plugin()
    plugin = penalties.plugin_inst
    seconds = plugin.seconds_late(due, came) if hasattr(plugin, "seconds_late") else (came - due).total_seconds()
    found = plugin.late_submission_penalty(student, score, seconds)
    return None if found is None else min(max(float(found), 0.0), float(score))


def reason(penalties: AssignLatePenalties, submission: SubmittedAssignment) -> str:
    """How late a submission was and what the rule takes off, in one or two sentences."""
    zone, due = zone_of(penalties.config), submission.assignment.duedate
    extended = in_words(by_the_clock(due, submission.duedate, zone)) if submission.extension else ""
    extension = f", with an extension of {extended}" if extended else ""
    by = in_words(by_the_clock(submission.duedate, submission.timestamp, zone))
    penalties.init_plugin()
    rule = getattr(penalties.plugin_inst, "in_words", str)()
    return f"It was handed in {by} after the due date ({shown(due, zone)}{extension}){(f': {rule}' if rule else '')}."


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
