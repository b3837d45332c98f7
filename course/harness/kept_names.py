"""Copies of the notebook's names at each grade cell, in the learner's own process.

A kernel runs all cells before the first hidden case, so later cells may bind an answer's names again. A copy of the
namespace per exercise brings them back. Objects are shared, not copied.

Does not cover: what later cells change in place (the judge then grades the answer apart).
"""

from __future__ import annotations

from typing import Any

_kept: dict[str, dict[str, Any]] = {}


def keep(exercise: str) -> None:
    """Keep the notebook's names as they are now, for this exercise."""
    _kept[exercise] = dict(_notebook_names())


def restore(exercise: str, alias: str = "") -> None:
    """Restore the names kept for this exercise. Raises KeyError if there are none.

    alias: the name under which the answer was written, if it is not the exercise's own
    """
    names = _notebook_names()
    kept = _kept[exercise]
    names.clear()  # in place, because functions of the notebook look up their globals here
    names.update(kept)
    if alias:
        names[exercise] = names[alias]


def _notebook_names() -> dict[str, Any]:
    from IPython import get_ipython

    names: dict[str, Any] = get_ipython().user_ns
    return names
