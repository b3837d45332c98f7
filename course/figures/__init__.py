"""The lessons' figures: `figures.heat_map(...)`, `figures.vectors.arrows(...)`.

Functions that draw one panel take `ax` and return it; functions that draw a whole figure return the Figure. A topic's
module is imported at its first use, matplotlib when something is first drawn.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from .base import html, row, show, with_alt_text
from .diagram import overview
from .lines import curves, losses
from .panels import bars, heat_map
from .products import broadcast, product, projections
from .roles import heads, soft_lookup
from .style import PALETTE, colour

__all__ = [
    "PALETTE",
    "bars",
    "broadcast",
    "colour",
    "curves",
    "heads",
    "heat_map",
    "html",
    "losses",
    "overview",
    "product",
    "projections",
    "row",
    "show",
    "soft_lookup",
    "with_alt_text",
]

_TOPICS = frozenset(module.name for module in iter_modules(__path__))


def __getattr__(name: str) -> Any:
    if name not in _TOPICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_TOPICS})
