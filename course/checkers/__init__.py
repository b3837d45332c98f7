"""Checkers of results with no single right value, for the grade and `check`."""

from . import (
    attention,
    batching,
    cached,
    circuits,
    counting,
    dropout,
    models,
    pages,
    sampling,
    tiles,
    training,
    values,
)
from .registry import CHECKERS, NamedChecker

__all__ = [
    "CHECKERS",
    "NamedChecker",
    "attention",
    "batching",
    "cached",
    "circuits",
    "counting",
    "dropout",
    "models",
    "pages",
    "sampling",
    "tiles",
    "training",
    "values",
]
