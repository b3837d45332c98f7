"""Three-way merge of plain values.

If only one side changed a value, its change is taken. If both changed it differently, it is a conflict. "Ours" is the
teacher's side, "theirs" the new version's. Knows nothing about lessons (`lesson_cells`, `merge_lessons`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Outcome(Enum):
    """How a merged value came about."""

    SAME = "both have it"
    OURS = "only ours changed"
    TAKEN = "only theirs changed"
    MERGED = "both changed, in different lines"
    LEFT_OUT = "ours removed it, theirs changed it"
    CONFLICT = "both changed the same, so it is ours"


class Merged(NamedTuple):
    """A merged value; None if it is absent."""

    value: str | None
    outcome: Outcome


def merge_value(base: str | None, ours: str | None, theirs: str | None) -> Merged:
    """Merge a text; None means that it is absent."""
    if ours == theirs:
        return Merged(ours, Outcome.SAME)
    if theirs == base:
        return Merged(ours, Outcome.OURS)
    if ours == base:
        return Merged(theirs, Outcome.TAKEN)
    if ours is None:
        return Merged(None, Outcome.LEFT_OUT)
    if base is None or theirs is None or (lines := merge_lines(base, ours, theirs)) is None:
        return Merged(ours, Outcome.CONFLICT)
    return Merged(lines, Outcome.MERGED)


def merge_lines(base: str, ours: str, theirs: str) -> str | None:
    """Apply both sides' edits to a text's lines.

    None if two different edits overlap or touch.
    """
    lines = base.splitlines(keepends=True)
    edits = {edit for side in (ours, theirs) for edit in _edits(lines, side.splitlines(keepends=True))}
    merged, done, end = list[str](), 0, -1
    for low, high, new in sorted(edits):
        if low <= end:
            return None
        merged += [*lines[done:low], *new]
        done = end = high
    return "".join([*merged, *lines[done:]])


def merge_order(base: Sequence[Key], ours: Sequence[Key], theirs: Sequence[Key]) -> list[Key]:
    """The items of both sides, in our order.

    In their order if only they moved something. An item that only one side has follows the same item as on that side.
    No list has duplicates.
    """
    first, second = (theirs, ours) if _moved(base, theirs) and not _moved(base, ours) else (ours, theirs)
    order = list(first)
    for place, key in enumerate(second):
        if key not in order:
            before = next((known for known in reversed(second[:place]) if known in order), None)
            order.insert(0 if before is None else order.index(before) + 1, key)
    return order


def _edits(base: list[str], side: list[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for tag, low, high, start, end in SequenceMatcher(None, base, side, autojunk=False).get_opcodes():
        if tag != "equal":
            yield low, high, tuple(side[start:end])


def _moved(base: Sequence[Key], side: Sequence[Key]) -> bool:
    """Whether a side orders its common items differently from the base."""
    return [key for key in side if key in base] != [key for key in base if key in side]
