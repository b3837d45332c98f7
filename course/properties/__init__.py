"""What a result must have where no single one is right: judges by name, for the grade and for `check`."""

from . import attending, batches, dropout, learning, models, results, tiles, writing
from .stating import PROPERTIES, Property

__all__ = [
    "PROPERTIES",
    "Property",
    "attending",
    "batches",
    "dropout",
    "learning",
    "models",
    "results",
    "tiles",
    "writing",
]
