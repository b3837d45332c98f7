"""Ids of a text in a chain that counts how often it is looked at: lesson 14."""

from __future__ import annotations

from collections.abc import Sequence


class LinkedIds:
    """Ids whose neighbours can be joined in place; a position keeps its name until it is joined to the one before it.

    first   the first position, None if there are no ids
    looks   how often `pair` was called
    """

    def __init__(self, ids: Sequence[int]) -> None:
        self.first = 0 if ids else None
        self.looks = 0
        self._ids: list[int | None] = list(ids)
        self._after: list[int | None] = [*range(1, len(ids)), None][: len(ids)]
        self._before: list[int | None] = [None, *range(len(ids) - 1)][: len(ids)]

    def pair(self, position: int) -> tuple[int, int] | None:
        """The id at a position and the next id; None at the last position, and where there is no id any more."""
        self.looks += 1
        left, after = self._ids[position], self._after[position]
        right = None if after is None else self._ids[after]
        return None if left is None or right is None else (left, right)

    def after(self, position: int) -> int | None:
        """The next position, None after the last."""
        return self._after[position]

    def before(self, position: int) -> int | None:
        """The position before, None before the first."""
        return self._before[position]

    def join(self, position: int, new: int) -> None:
        """Replace the ids at this position and the next by the id `new`. Raises ValueError if there is no next one."""
        gone = self._after[position]
        if self._ids[position] is None or gone is None:
            raise ValueError(f"there is no pair at position {position}")
        beyond = self._after[gone]
        self._ids[position], self._ids[gone] = new, None
        self._after[position], self._after[gone], self._before[gone] = beyond, None, None
        if beyond is not None:
            self._before[beyond] = position
