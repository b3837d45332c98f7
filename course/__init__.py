"""Attention, built and graded: what the course's notebooks import.

`begin`, `check`, `hint`, `use` and `progress` are for the learner; `figures` and `interactive` draw.
"""

from importlib import import_module
from typing import Any

from .checking import begin, check, hint, progress, use

__all__ = ["begin", "check", "figures", "hint", "interactive", "progress", "use"]


def __getattr__(name: str) -> Any:
    if name in ("figures", "interactive"):  # matplotlib is slow to import, and the judge does not need it
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
