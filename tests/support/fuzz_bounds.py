"""How many random inputs a property test tries, and how much reading one may cost.

FUZZ=100 (`make fuzz`) tries a hundred times as many inputs as the test suite, other ones each time, and checks each
against its bound. The suite itself does not measure time, and always tries the same inputs: a change is not refused for
a fault that it did not bring.
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
# Processor seconds and bytes allowed for any input, plus those for each byte of it. Both are far above the cost of
# honest input under tracemalloc, which makes everything a few times slower.
SECONDS, SECONDS_EACH = 5.0, 2e-4
MEMORY, MEMORY_EACH = 64 * 2**20, 500


def fuzz_settings(number: int) -> settings:
    """hypothesis settings for a property that the test suite tries this many times."""
    return settings(
        max_examples=number * TIMES, derandomize=TIMES == 1, deadline=None, suppress_health_check=list(HealthCheck)
    )


@contextmanager
def bounded(size: int) -> Iterator[None]:
    """Check that the block stays within the bound for an input of this many bytes."""
    if TIMES == 1:
        yield
        return
    gc.freeze()  # hypothesis keeps many objects; collecting them may take seconds and is no cost of reading
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
