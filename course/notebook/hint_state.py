"""Which hint to show: the next one, or the same one when a notebook reruns."""

from __future__ import annotations

from ..report import shell
from .ipython_history import mentions, recent_cells


class HintState:
    """The hints shown so far, by exercise.

    A learner who is stuck asks right after writing, checking or asking. When all cells rerun, the cell before the hint
    is the one above it in the notebook, which does not mention the exercise.
    """

    def __init__(self) -> None:
        self.shown: dict[str, int] = {}  # exercise -> index of the last hint shown
        self.cells: dict[str, int] = {}  # exercise -> execution count of the cell that showed it

    def next_hint(self, exercise: str, count: int, already_shown: int = 0) -> int:
        """Index of the hint to show, of `count`; `already_shown` in earlier sessions."""
        place = self.shown.get(exercise, min(already_shown, count) - 1)
        if place < 0 or self._asked_again(exercise):
            place = min(place + 1, count - 1)
        self.shown[exercise] = place
        self.cells[exercise] = _execution_count()
        return place

    def _asked_again(self, exercise: str) -> bool:
        if shell() is None or self.cells.get(exercise) == _execution_count():
            return True
        cells = recent_cells()
        next(cells, "")  # skip the running cell
        return mentions(next(cells, ""), exercise)


def _execution_count() -> int:
    """The execution count of the running cell."""
    return getattr(shell(), "execution_count", 0)
