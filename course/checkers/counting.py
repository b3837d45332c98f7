"""A checker of work that is counted in looks."""

from __future__ import annotations

from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker


@checker
def looks_only_at_changes(seen: Observation, n_ids: int, joins: int) -> Problem:
    """A text of `n_ids` ids in which `joins` pairs are joined takes at most 2 * n_ids + 8 * joins looks at a pair."""
    (looks,) = seen.values.values()
    allowed = 2 * n_ids + 8 * joins
    if looks > allowed:
        return tagged("recounts", f"you look at {looks} pairs; {allowed} are allowed for {n_ids} ids and {joins} joins")
    return None
