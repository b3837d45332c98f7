"""What a result must have where no single one is right: checkers by name, for the grade and for `check`."""

from . import attention, batching, dropout, models, sampling, tiles, training, values
from .registry import CHECKERS, NamedChecker

__all__ = [
    "CHECKERS",
    "NamedChecker",
    "attention",
    "batching",
    "dropout",
    "models",
    "sampling",
    "tiles",
    "training",
    "values",
]
