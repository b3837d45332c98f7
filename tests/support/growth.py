"""Whether a function takes time in proportion to its input: the input is doubled four times."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

DOUBLINGS = 4
QUICK = 0.05  # processor seconds for the largest input, below which growth is not looked at
ROOM = 3  # how many times as long as in proportion, for caches and a busy machine; the square takes 16 times as long


def growth(function: Callable[[Any], object], make: Callable[[int], Any], size: int) -> list[float]:
    """Processor seconds for inputs of `size` and of each doubling; stops early where a function is quick no more."""
    seconds: list[float] = []
    for doubling in range(DOUBLINGS + 1):
        given = make(size * 2**doubling)
        seconds.append(min(seconds_of(function, given) for _ in range(2)))
        if seconds[-1] > 100 * max(seconds[0], QUICK):
            break
    return seconds


def is_linear(seconds: list[float]) -> bool:
    return seconds[-1] < QUICK or seconds[-1] <= ROOM * 2 ** (len(seconds) - 1) * max(seconds[0], QUICK / 2**DOUBLINGS)


def seconds_of(function: Callable[[Any], object], given: Any) -> float:
    begun = time.thread_time()
    function(given)
    return time.thread_time() - begun
