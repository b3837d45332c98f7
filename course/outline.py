"""The lessons of a teacher's course, in order, and the points of each exercise.

A course that differs from the package's lessons has an `outline.json` next to each notebook (`grading build` writes it
from course.toml). Without the file, the course is all lessons of the package as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FILE = "outline.json"
WARM_UP = re.compile(r"9\d_")  # optional lessons, with a number from 90 on
UNITS = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)  # powers of two, so that sums of points are exact


@dataclass(frozen=True)
class Outline:
    """The lessons of a course. `title`: the course's; `lessons`: lesson -> exercise -> points, both in order."""

    title: str
    lessons: Mapping[str, Mapping[str, float]]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def read_outline(text: str) -> Outline:
    """Read the text of an outline.json. Raises ValueError."""
    found: Any = json.loads(text)
    try:
        lessons = {
            str(lesson): {str(name): float(points) for name, points in exercises.items()}
            for lesson, exercises in found["lessons"].items()
        }
        return Outline(str(found["title"]), lessons)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{FILE} is not an outline: {type(error).__name__} {error}") from None


def scale_points(points: Sequence[float], total: float) -> list[float]:
    """Scale the points of criteria so that they sum to `total`.

    The sum is exact if `total` is a multiple of the smallest in UNITS. Points are then multiples of a power of two: the
    largest one that gives every criterion some points, and none over a third too many or too few; otherwise the
    smallest.
    """
    before = sum(points)
    exact = [value * total / before for value in points]
    if total * 32 != int(total * 32) or all(value * 32 == int(value * 32) for value in exact):
        return exact
    for unit in UNITS:
        scaled = _rounded(exact, total, unit)
        if all(new > 0 and abs(new - value) <= value / 3 for new, value in zip(scaled, exact, strict=True)):
            return scaled
    return scaled


def _rounded(exact: Sequence[float], total: float, unit: float) -> list[float]:
    """Round to multiples of `unit` by the largest remainders, so that the sum stays `total`."""
    units = [int(value / unit) for value in exact]
    left = round(total / unit) - sum(units)
    by_remainder = sorted(range(len(exact)), key=lambda i: units[i] - exact[i] / unit)
    for i in by_remainder[:left]:
        units[i] += 1
    return [number * unit for number in units]


def counts(lesson: str) -> bool:
    """Whether the course counts this lesson, in hours, exercises, points and what is next. It counts no warm-up."""
    return not WARM_UP.match(lesson)
