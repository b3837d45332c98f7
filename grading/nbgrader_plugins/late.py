"""What coming late costs, by a name: `c.LatePolicy.policy` in nbgrader_config.py; and why, in words for the feedback.

Any other plugin for `c.AssignLatePenalties.plugin_class` does too; the feedback then tells the times alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta

from nbgrader.api import Base, Gradebook, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Column, String, Text
from traitlets import Enum, Float

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
POLICIES: dict[str, tuple[Callable[[float], float], str]] = {  # share of the points after so many seconds, and in words
    "none": (lambda late: 0.0, "nothing is taken off"),
    "zero": (lambda late: 1.0, "what comes late earns nothing"),
    "half": (lambda late: 0.5, "half of the points are taken off"),
    "10% a day": (lambda late: 0.1 * math.ceil(late / DAY), "10% of the points for each day begun"),
    "20% a day": (lambda late: 0.2 * math.ceil(late / DAY), "20% of the points for each day begun"),
    "2% an hour": (lambda late: 0.02 * math.ceil(late / HOUR), "2% of the points for each hour begun"),
}


class LatePolicy(LateSubmissionPlugin):
    """One of a few common rules. With "none", nbgrader's own `c.LateSubmissionPlugin.penalty_method` holds."""

    policy = Enum(tuple(POLICIES), "none", help=f"One of {', '.join(POLICIES)}.").tag(config=True)
    grace_minutes = Float(0.0, help="Minutes after the due date that cost nothing, and do not count.").tag(config=True)
    most = Float(1.0, help="The largest share of the points that is taken off: 0.5 is half of them.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Points to take off; None: none."""
        late = total_seconds_late - self.grace_minutes * MINUTE
        if late <= 0:
            return None
        if self.policy == "none":
            theirs: float | None = super().late_submission_penalty(student_id, score, total_seconds_late)
            return theirs
        return score * min(POLICIES[self.policy][0](late), self.most, 1.0)

    def in_words(self) -> str:
        if self.policy == "none":
            return POLICIES["zero"][1] if self.penalty_method == "zero" else ""
        grace = f" after {self.grace_minutes:g} minutes of grace" if self.grace_minutes else ""
        most = f", {self.most:.0%} at most" if self.most < 1 and self.policy != "zero" else ""
        return f"{POLICIES[self.policy][1]}{grace}{most}"


class _Row(Base):
    """Why points were taken off, of those submitted notebooks that lost some."""

    __tablename__ = "attention_late"

    notebook_id = Column(String(32), primary_key=True)
    why = Column(Text, nullable=False)


def penalty(penalties: AssignLatePenalties, student: str, score: float, seconds_late: float) -> float | None:
    """Points to take off, between none and all of `score`, as nbgrader's AssignLatePenalties has it."""
    if seconds_late <= 0:
        return None
    penalties.init_plugin()
    found = penalties.plugin_inst.late_submission_penalty(student, score, seconds_late)
    return None if found is None else min(max(float(found), 0.0), float(score))


def reason(penalties: AssignLatePenalties, submission: SubmittedAssignment) -> str:
    """Why points are taken off a submission that came late, as a sentence or two."""
    extension = f", with an extension of {in_words(submission.extension)}" if submission.extension else ""
    by = in_words(timedelta(seconds=submission.total_seconds_late))
    rule = getattr(penalties.plugin_inst, "in_words", str)()
    due = f"{shown(submission.assignment.duedate)}{extension}"
    return f"It came {by} after it was due ({due}){f': {rule}' if rule else ''}."


def write_reason(gradebook: Gradebook, notebook: str, why: str) -> None:
    """Keep why a submitted notebook, by its id, lost points; "": it lost none. The caller ends the transaction."""
    if why:
        gradebook.db.merge(_Row(notebook_id=notebook, why=why))
    else:
        gradebook.db.query(_Row).filter(_Row.notebook_id == notebook).delete()


def reason_kept(gradebook: Gradebook, notebook: str) -> str:
    row = gradebook.db.get(_Row, notebook)
    return "" if row is None else str(row.why)


def in_words(time: timedelta) -> str:
    """The two largest units of a time, as "1 day 3 hours"."""
    minutes = max(1, math.ceil(time.total_seconds() / MINUTE))
    amounts = zip((minutes // 1440, minutes // 60 % 24, minutes % 60), ("day", "hour", "minute"), strict=True)
    return " ".join([f"{n} {unit}{'s' * (n != 1)}" for n, unit in amounts if n][:2])


def shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"
