"""Warm-ups: optional lessons, with a number from 90 on, that no total of the course counts."""

from __future__ import annotations

import re

WARM_UP = re.compile(r"9\d_")


def counts(lesson: str) -> bool:
    """Whether the course counts this lesson, in hours, exercises, points and what is next. It counts no warm-up."""
    return not WARM_UP.match(lesson)
