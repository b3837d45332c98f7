"""The repository under test: its folder, its lessons, the seed of the courses that tests build, the cases of a week."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from grading.course_dir.lessons import list_lessons

ROOT = Path(__file__).parents[2]
LESSONS = list_lessons(ROOT)
SEED = "5eed" * 8  # fixed, so that a failure can be repeated
Item = TypeVar("Item")


def of_this_week(items: Iterable[Item], parts: int, always: Collection[Item] = ()) -> list[Item]:
    """Every `parts`-th item, other ones each week: so many weeks try all. `always`: the items of every week."""
    week = datetime.now(UTC).isocalendar().week
    return [item for n, item in enumerate(items) if n % parts == week % parts or item in always]
