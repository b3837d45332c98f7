"""Points as people and other programs see them.

The gradebook and all sums keep points as they are. They are rounded here, at the end, and nowhere else, so that every
page, file and table shows the same digits.
"""

from __future__ import annotations

DIGITS = 4


def rounded(points: float) -> float:
    """Round points, or a difference between points, which is 0 if nobody can see it."""
    return round(points, DIGITS) + 0.0  # not -0.0


def points_text(points: float) -> str:
    """The points as text, such as "12.5" or "0.3333"."""
    return f"{rounded(points):.{DIGITS}f}".rstrip("0").rstrip(".")
