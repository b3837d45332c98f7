"""What a result must have where no single one is right: judges by name, for the grade and for `check`."""

from . import attention, batching, dropout, models, sampling, tiles, training, values
from .registry import PROPERTIES, Property

__all__ = [
    "PROPERTIES",
    "Property",
    "attention",
    "batching",
    "dropout",
    "models",
    "sampling",
    "tiles",
    "training",
    "values",
]
