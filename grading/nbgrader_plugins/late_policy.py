"""Late policies, chosen by name with `c.LatePolicy.policy` in nbgrader_config.py.

Other plugins for `c.AssignLatePenalties.plugin_class` work too; the feedback then states only the times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Enum, Float, Unicode

from ..course_dir.course_time import days_begun

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
POLICIES: dict[str, tuple[Callable[[float], float], str]] = {  # share of points lost by seconds late; text
    "none": (lambda late: 0.0, "no points are deducted"),
    "zero": (lambda late: 1.0, "late work earns no points"),
    "half": (lambda late: 0.5, "half of the points are deducted"),
    "10% a day": (lambda late: 0.1 * math.ceil(late / DAY), "10% of the points are deducted for each day begun"),
    "20% a day": (lambda late: 0.2 * math.ceil(late / DAY), "20% of the points are deducted for each day begun"),
    "2% an hour": (lambda late: 0.02 * math.ceil(late / HOUR), "2% of the points are deducted for each hour begun"),
}


class LatePolicy(LateSubmissionPlugin):
    """A choice of common rules; with "none", nbgrader's own penalty method applies.

    That is `c.LateSubmissionPlugin.penalty_method`.
    """

    policy = Enum(tuple(POLICIES), "none", help=f"One of {', '.join(POLICIES)}.").tag(config=True)
    grace_minutes = Float(0.0, help="Minutes after the due date that cost nothing and are not counted.").tag(
        config=True
    )
    most = Float(1.0, help="Largest share of the points that is deducted: 0.5 is half of them.").tag(config=True)

    timezone = Unicode("UTC", help="Time zone of the course, in which days are counted and times are shown.").tag(
        config=True
    )

    def seconds_late(self, due: datetime, came: datetime) -> float:
        """The seconds to pass to `late_submission_penalty`: where days count, each day of the calendar has 86,400.

        `due`, `came`: in UTC without a time zone, `due` with an extension.
        """
        begin = due + timedelta(minutes=self.grace_minutes)
        if not self.policy.endswith("a day") or came <= begin:
            return (came - due).total_seconds()
        return self.grace_minutes * MINUTE + DAY * days_begun(begin, came, ZoneInfo(self.timezone))

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Points to take off; None if there are none."""
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
