"""The number of processors available."""

from __future__ import annotations

import os


def cpu_count() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
