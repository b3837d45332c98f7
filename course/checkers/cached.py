"""Checkers of generation with a cache, which count what a `sample_models.Cached` was asked."""

from __future__ import annotations

from collections.abc import Sequence

from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker

Calls = Sequence[Sequence[int]]


@checker
def reads_each_position_once(seen: Observation, length: int, n_tokens: int) -> Problem:
    """The model is called `n_tokens` times: with the prompt of `length` tokens, then with one token each time."""
    sizes = [call[1] for call in _calls(seen)]
    if sizes == [length, *[1] * (n_tokens - 1)]:
        return None
    if not sizes:
        return tagged("never called", "the model is never called")
    total, needed = sum(sizes), length + n_tokens - 1
    counts = f"{_many(len(sizes), 'call')} with {_many(total, 'position')} in all, not {n_tokens} with {needed}"
    if sizes == [length + n for n in range(n_tokens)]:
        return tagged("from scratch", f"all tokens are read again in every call: {counts}")
    if sizes == [1] * needed:
        return tagged("piece by piece", f"the prompt is read token by token: {counts}")
    if sizes == [length, *[1] * n_tokens]:
        return tagged("one too many", f"the last new token is read, too: {counts}")
    return tagged(
        "other calls", f"the model reads {', '.join(map(str, sizes[:8]))}{', …' * (len(sizes) > 8)}: {counts}"
    )


@checker
def uses_one_cache(seen: Observation, length: int, n_tokens: int) -> Problem:
    """All calls get the same memory, with room for as many positions as are read, or for one more."""
    calls, least = _calls(seen), length + n_tokens - 1
    if not calls:
        return tagged("never called", "the model is never called")
    rooms = [call[2] for call in calls]
    if len(set(rooms)) > 1:
        return tagged("grows", f"the cache has room for {rooms[0]} positions at first and for {rooms[-1]} at last")
    if rooms[0] > least + 1:
        return tagged("too long", f"the cache has room for {rooms[0]} positions, and {least} are read")
    if not all(call[3] for call in calls):
        return tagged("not the same", "the model gets another cache in a later call than in the first")
    return None


@checker
def calls_without_gradients(seen: Observation) -> Problem:
    """The model is called, and no gradient can flow in any call."""
    calls = _calls(seen)
    if not calls:
        return tagged("never called", "the model is never called")
    flowing = sum(bool(call[4]) for call in calls)
    if flowing:
        return tagged("flows", f"gradients could flow in {flowing} of {_many(len(calls), 'call')} of the model")
    return None


def _calls(seen: Observation) -> Calls:
    return [list(call) for call in seen.values["calls"]]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
