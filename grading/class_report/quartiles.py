"""Quartiles of a class's points."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .model import Submission


def quartiles(submissions: Sequence[Submission]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile of the shares, in percent.

    Interpolates linearly. NaN without submissions.
    """
    shares = sorted(100 * s.share for s in submissions)
    return _quantile(shares, 0.25), _quantile(shares, 0.5), _quantile(shares, 0.75)


def _quantile(ordered: Sequence[float], part: float) -> float:
    if not ordered:
        return math.nan
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
