"""Which hint is due: the next one for a person who asks again, and the same one for a notebook that runs again."""

from __future__ import annotations

from ..report import shell
from .ipython_history import mentions, recent_cells


class HintState:
    """How far each exercise's hints have been shown.

    Who is stuck asks right after writing, checking or asking before. When all cells run, what ran before the cell with
    the hint stands above it in the notebook, and does not speak of the exercise.
    """

    def __init__(self) -> None:
        self.shown: dict[str, int] = {}  # exercise -> the place of the hint that was shown last
        self.cells: dict[str, int] = {}  # exercise -> the number of the cell in which that was

    def next_hint(self, exercise: str, count: int, already_shown: int = 0) -> int:
        """The place, from 0, of the hint to show among `count`; `after`: so many were shown in other sessions."""
        place = self.shown.get(exercise, min(already_shown, count) - 1)
        if place < 0 or self._asked_again(exercise):
            place = min(place + 1, count - 1)
        self.shown[exercise] = place
        self.cells[exercise] = _number()
        return place

    def _asked_again(self, exercise: str) -> bool:
        if shell() is None or self.cells.get(exercise) == _number():
            return True
        cells = recent_cells()
        next(cells, "")  # the one that runs
        return mentions(next(cells, ""), exercise)


def _number() -> int:
    """The running cell's."""
    return getattr(shell(), "execution_count", 0)
