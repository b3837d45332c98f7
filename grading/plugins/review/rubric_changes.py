"""A rubric changed on the page, and its effect on the answers that were graded with it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grading.exercises.rubric import Item, Rubric, checked
from grading.points import rounded

from .marks import Mark


def from_page(rows: Sequence[Mapping[str, Any]], points: float, from_full: bool, taken: Iterable[str]) -> Rubric:
    """Make a rubric from the page's rows; items without an id get one.

    `taken`: ids that may not be used again.
    """
    used, items = {str(row["id"]) for row in rows if row.get("id")} | set(taken), []
    for row in rows:
        name = str(row.get("id") or "")
        if not name:
            name = next(f"item-{n}" for n in range(1, len(used) + 2) if f"item-{n}" not in used)
            used.add(name)
        items.append(Item(name, str(row["text"]).strip(), float(row["points"])))
    return checked(Rubric(points, tuple(items), from_full))


def changed_marks(rubric: Rubric, marks: Mapping[str, Mark]) -> dict[str, Mark]:
    """The marks that change under this rubric.

    An answer keeps points that a person added to its items. If all of its items are gone and nothing was added, it
    waits for a person again. Points given elsewhere, without any item, stay.
    """
    found = {}
    for key, mark in marks.items():
        if mark.points is None or (mark.from_elsewhere and not mark.items):
            continue
        kept = rubric.known(mark.items)
        bare = bool(mark.items) and not kept and not mark.adjust
        new = mark.given(rubric, kept, mark.adjust, graded=not bare)
        if bare or new.items != mark.items or rounded((new.points or 0.0) - mark.points):
            found[key] = new if bare else replace(new, waiting=mark.waiting)
    return found


def summary(before: Mapping[str, Mark], after: Mapping[str, Mark]) -> list[dict[str, Any]]:
    """Count the answers that move from one number of points to another.

    `to` is None for answers to be graded again.
    """
    moves = Counter((_shown(before[key]), _shown(mark)) for key, mark in after.items())
    rows = [{"from": old, "to": new, "answers": count} for (old, new), count in moves.items() if old != new]
    return sorted(rows, key=lambda row: -row["answers"])


def _shown(mark: Mark) -> float | None:
    return None if mark.points is None else rounded(mark.points)


def digest(before: Mapping[str, Mark], after: Mapping[str, Mark]) -> str:
    """A digest of the changes, to make sure that the applied changes are those shown."""
    rows = sorted((key, before[key].stamp, mark.stamp) for key, mark in after.items())
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
