"""How many inputs a property is tried with, and what reading one may cost.

FUZZ=100 tries a hundred times as many inputs as the test suite does, and holds each to its bound (`make fuzz`). The
suite itself does not look at the clock.
"""

from __future__ import annotations

import gc
import os
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("FUZZ", "1"))
# For any input: seconds of this process's own time, and bytes, beside what each byte of the input may cost. Both are
# far above what honest input takes, measured under tracemalloc, which makes everything a few times slower.
SECONDS, SECONDS_EACH = 5.0, 2e-4
MEMORY, MEMORY_EACH = 64 * 2**20, 500


def tries(number: int) -> settings:
    """Settings for a property that the test suite tries this often."""
    return settings(max_examples=number * TIMES, deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def bounded(size: int) -> Iterator[None]:
    """Hold what is done inside to the bound for an input of so many bytes."""
    if TIMES == 1:
        yield
        return
    gc.freeze()  # what hypothesis has gathered by now, which may take seconds to look through, is no cost of reading
    tracemalloc.start()
    begun = time.process_time()
    try:
        yield
        took, most = time.process_time() - begun, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert took < SECONDS + SECONDS_EACH * size, f"{took:.1f} s for {size} bytes"
    assert most < MEMORY + MEMORY_EACH * size, f"{most / 2**20:.0f} MiB for {size} bytes"
