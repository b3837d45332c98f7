"""Checkers of results with no single right value, for the grade and `check`."""

from . import attention, batching, cached, circuits, dropout, models, sampling, tiles, training, values
from .registry import CHECKERS, NamedChecker

__all__ = [
    "CHECKERS",
    "NamedChecker",
    "attention",
    "batching",
    "cached",
    "circuits",
    "dropout",
    "models",
    "sampling",
    "tiles",
    "training",
    "values",
]
